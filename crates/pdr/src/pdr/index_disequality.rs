//! Generalization of literals about cells to a disequality of indexes or of arrays.
//!
//! If a cube has contradictory literals about two reads of one array, the indexes differ. If that
//! disequality, with the literals of the cube without reads, is blocked, the lemma is an equation
//! of indexes. Proofs about two runs of one program need such lemmas. (Not in the papers; a
//! converse of Ackermann's expansion.)
//!
//! If a cube has contradictory literals about one cell of two arrays, the arrays differ, and the
//! lemma is their equation. (Spacer's array-equality generalization.)
//!
//! Invariant: the given cube implies the returned one where the lemmas of its level hold, and a
//! query found the returned one blocked.

use rustc_hash::FxHashMap;

use super::array_indexes::indexes;
use super::ids::Node;
use super::levels::Level;
use super::limits::LIMITS;
use super::search::Search;
use alphorn_proof::Stop;
use alphorn_smt::SatResult;
use alphorn_term::{Op, TermId, TermStore};

impl Search<'_> {
    /// A blocked cube with a disequality of two indexes or arrays in place of the literals of the
    /// given cube about cells, and its level; `None` if none is found. `from` is the level of the
    /// body atoms.
    pub(super) fn disequality(
        &mut self,
        node: Node,
        cube: &[TermId],
        from: Option<Level>,
    ) -> Result<Option<(Vec<TermId>, Level)>, Stop> {
        let terms = self.terms.clone();
        let pairs = pairs(&terms, cube);
        if pairs.is_empty() {
            return Ok(None);
        }
        let plain = |l: &TermId| indexes(&terms, *l).is_empty();
        let rest: Vec<TermId> = cube.iter().copied().filter(plain).collect();
        let mut solver = self.smt.solver();
        for &literal in cube {
            solver.assert(literal);
        }
        // Known lemmas may exclude that other pairs differ.
        let level = from.map_or(0, |below| below.saturating_add(1));
        solver.assert(self.frames[node].formula(&terms, level));
        for equation in pairs {
            self.check_limits()?;
            if solver.check(&[equation]) != SatResult::Unsat {
                continue;
            }
            let mut candidate = rest.clone();
            candidate.push(terms.not(equation));
            if let Some(found) = self.inductive(node, &candidate, from)? {
                self.counters.equated += 1;
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// Equations of indexes at which a cube reads the same array, and of array variables that it reads.
fn pairs(terms: &TermStore, cube: &[TermId]) -> Vec<TermId> {
    let mut reads: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
    terms.post_order(cube, |term| {
        if *terms.op(term) == Op::Select {
            let args = terms.args(term);
            reads.entry(args[0]).or_default().push(args[1]);
        }
    });
    let mut arrays: Vec<_> = reads.into_iter().collect();
    arrays.sort_unstable();
    let mut found = Vec::new();
    let mut add = |among: &[TermId]| {
        for (at, &left) in among.iter().enumerate() {
            for &right in &among[at + 1..] {
                if found.len() >= LIMITS.disequality_pairs {
                    return;
                }
                if terms.sort_of(left) != terms.sort_of(right) {
                    continue;
                }
                let equation = terms.eq(left, right);
                let decided = equation == TermId::TRUE || equation == TermId::FALSE;
                if !decided && !found.contains(&equation) {
                    found.push(equation);
                }
            }
        }
    };
    for (_, indexes) in &arrays {
        add(indexes);
    }
    let variables = arrays.iter().map(|a| a.0);
    add(&variables.filter(|&a| terms.is_var(a)).collect::<Vec<_>>());
    found
}
