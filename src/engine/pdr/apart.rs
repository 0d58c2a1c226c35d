//! Generalisation of what cells hold to where they are, and to what arrays are.
//!
//! A cube that says of two reads of one array what cannot be true of one cell implies that the
//! indexes differ. Where that alone is blocked, with what the cube says apart from reads, the lemma
//! is an equation of indexes, as proofs about two runs of one program need them; the cells alone give
//! a lemma for each distance from the start. (Not in the papers; a converse of Ackermann's
//! expansion.) A cube that says of one cell of two arrays what cannot be true of one array implies
//! that the arrays differ, and the lemma is their equation. (Spacer's array-equality generalisation.)
//!
//! Invariant: the cube returned is implied by the cube given where the lemmas of its level hold, and
//! was found blocked by a query.

use rustc_hash::FxHashMap;

use super::frame::Level;
use super::quantify::indexes;
use super::{Search, Stop};
use crate::smt::SatResult;
use crate::term::{Op, TermId, TermStore};

/// Pairs of indexes of one cube that are looked at.
const PAIRS: usize = 12;

impl Search<'_> {
    /// A blocked cube that says two indexes or two arrays differ, in place of what it says about cells.
    pub(super) fn set_apart(
        &mut self,
        predicate: usize,
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
        // Equations found before may leave only one pair to differ.
        let level = from.map_or(0, |below| below.saturating_add(1));
        solver.assert(self.frames[predicate].formula(&terms, level));
        for equation in pairs {
            self.check_limits()?;
            if solver.check(&[equation]) != SatResult::Unsat {
                continue;
            }
            let mut candidate = rest.clone();
            candidate.push(terms.not(equation));
            if let Some(found) = self.inductive(predicate, &candidate, from)? {
                self.counters.set_apart += 1;
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// Equations of indexes at which the cube reads one array, and of arrays that it reads.
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
                if found.len() >= PAIRS {
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
