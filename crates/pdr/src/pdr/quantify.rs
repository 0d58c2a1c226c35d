//! Quantified generalization: lemmas about all cells of an array.
//!
//! Gurfinkel, Shoham, Vizel, "Quantifiers on demand" (ATVA 2018). The index of a read in a blocked
//! cube is replaced by a variable for any index, and the cube's literals about the index by
//! literals about the variable. If the new cube is blocked, relative to the frame and its own
//! negation, the lemma holds for all indexes.
//!
//! Deviations: candidates for the literals about the variable come from the cube itself (numerals
//! next to the index, the index equation solved for a variable, one bound). Lemmas are instantiated
//! at all indexes that are read in obligations and clauses, so queries have no quantifiers.
//!
//! Invariant: a cube with the variable `k` for any index describes the states that are in it for
//! some `k`.

use num_traits::{One, Signed};
use rustc_hash::{FxHashMap, FxHashSet};

use super::array_indexes::indexes;
use super::ids::Node;
use super::levels::Level;
use super::limits::LIMITS;
use super::pattern::shape;
use super::search::Search;
use alphorn_arith::Constraint;
use alphorn_proof::Stop;
use alphorn_term::{Linear, Op, Rational, SortId, TermId, TermStore};

impl Search<'_> {
    /// A blocked cube about any index that the given one implies, and its level; `None` if none is
    /// found. `from` is the level of the body atoms.
    pub(super) fn quantify(
        &mut self,
        node: Node,
        cube: &[TermId],
        from: Option<Level>,
    ) -> Result<Option<(Vec<TermId>, Level)>, Stop> {
        if !self.options.quantify {
            return Ok(None);
        }
        let terms = self.terms.clone();
        let mut tried = FxHashSet::default();
        for &part in cube {
            for index in indexes(&terms, part) {
                let Some(any) = self.frames[node].any(&terms, terms.sort_of(index)) else {
                    continue;
                };
                if index == any || tried.len() >= LIMITS.quantified_indexes || !tried.insert(index)
                {
                    continue;
                }
                for candidate in candidates(&terms, cube, index, any) {
                    let allowed = LIMITS.quantify_failures
                        + LIMITS.quantify_failures_per_success * self.counters.quantified;
                    if self.counters.quantify_failures > allowed {
                        return Ok(None);
                    }
                    if let Some((cube, level)) = self.inductive(node, &candidate, from)? {
                        self.counters.quantified += 1;
                        return Ok(Some((cube, level)));
                    }
                    self.counters.quantify_failures += 1;
                }
            }
        }
        Ok(None)
    }
}

/// Cubes with `any` in place of `index`, the weakest first. The given cube implies each of them for
/// `any = index`.
fn candidates(terms: &TermStore, cube: &[TermId], index: TermId, any: TermId) -> Vec<Vec<TermId>> {
    let mut reads: FxHashMap<TermId, TermId> = FxHashMap::default();
    terms.post_order(cube, |term| {
        if *terms.op(term) == Op::Select && terms.args(term)[1] == index {
            reads.insert(term, terms.select(terms.args(term)[0], any));
        }
    });
    let mut about_cells = Vec::new();
    let mut rest = Vec::new();
    for &part in cube {
        let abstracted = terms.substitute(part, &reads);
        match abstracted == part {
            true => rest.push(part),
            false => about_cells.push(abstracted),
        }
    }
    if about_cells.is_empty() {
        return Vec::new();
    }
    let sort = terms.sort_of(index);
    let mut sides: Vec<(Vec<TermId>, Vec<TermId>)> = Vec::new();
    let moved = match solved(terms, index, any) {
        Some(map) => {
            let map = |parts: &[TermId]| -> Vec<TermId> {
                parts.iter().map(|&p| terms.substitute(p, &map)).collect()
            };
            (map(&about_cells), map(&rest))
        }
        None => {
            let shifted = rest.iter().map(|&p| shifted(terms, p, index, any));
            (about_cells.clone(), shifted.collect())
        }
    };
    sides.push(moved);
    if sides[0] != (about_cells.clone(), rest.clone()) {
        sides.push((about_cells, rest));
    }
    let mut bounds = vec![None];
    if [SortId::INT, SortId::REAL].contains(&sort) {
        bounds.push(Some(terms.ge(any, index)));
        bounds.push(Some(terms.le(any, index)));
        if !terms.is_value(index) && sort == SortId::INT {
            bounds.push(Some(terms.ge(any, terms.int(0))));
        }
    }
    let mut result: Vec<Vec<TermId>> = Vec::new();
    for (cells, rest) in sides {
        for bound in &bounds {
            let mut candidate: Vec<TermId> =
                cells.iter().chain(&rest).chain(bound).copied().collect();
            candidate.sort_unstable();
            candidate.dedup();
            if !candidate.contains(&TermId::FALSE) && !result.contains(&candidate) {
                result.push(candidate);
            }
        }
    }
    result
}

/// The equation `index = any` solved for a variable of the index, as a substitution.
fn solved(terms: &TermStore, index: TermId, any: TermId) -> Option<FxHashMap<TermId, TermId>> {
    if terms.is_value(index) {
        return None;
    }
    if terms.is_var(index) {
        return Some(std::iter::once((index, any)).collect());
    }
    let sort = terms.sort_of(index);
    if ![SortId::INT, SortId::REAL].contains(&sort) {
        return None;
    }
    let sum = terms.linear(index);
    let mut monomials = sum.monomials.iter();
    let var = monomials
        .find(|m| terms.is_var(m.0) && m.1.abs().is_one())?
        .0;
    // var = (any - (sum - coefficient * var)) / coefficient
    let (coefficient, others) = sum.split_off(var);
    let value = terms.linear(any).minus(&others).scaled(&coefficient);
    Some(std::iter::once((var, terms.from_linear(&value, sort))).collect())
}

/// A bound by a numeral that is the index or next to it, as a bound relative to `any`; other
/// literals are unchanged.
fn shifted(terms: &TermStore, part: TermId, index: TermId, any: TermId) -> TermId {
    let Some(position) = terms.numeral(index) else {
        return part;
    };
    let Some((shape, constant)) = shape(terms, part) else {
        return part;
    };
    let sort = terms.sort_of(shape.terms[0].0);
    let near = (&constant - &position).abs() <= Rational::one();
    let single = shape.terms.len() == 1 && shape.terms[0].1.is_one();
    if sort != terms.sort_of(any) || !near || !single {
        return part;
    }
    // terms - any ⋈ constant - position
    let sum = Linear {
        monomials: shape.terms.clone(),
        constant: position - constant,
    };
    let sum = sum.minus(&terms.linear(any));
    let (relation, sign) = shape.kind.relation();
    let sum = sum.scaled(&Rational::from_integer(sign.into()));
    Constraint::new(sum, relation).formula(terms)
}
