//! Bound expansion: a blocked cube's bounds move outwards to numerals of the clauses and facts.
//!
//! As Spacer's generaliser of that name does: an invariant's bound is more often one of the
//! program's numerals than the one that a step happened to have. Invariant: the cube returned contains the cube
//! given, and was found blocked by a query.

use rustc_hash::FxHashSet;

use super::frame::Level;
use super::hull::Relation;
use super::pattern::{literal, shape};
use super::{Search, Stop};
use crate::term::{Linear, Rational, TermId, TermStore};

/// Numerals that are remembered, at most.
const NUMERALS: usize = 64;

/// The numerals in some formulas and those next to them, ascending.
pub(super) fn numerals(terms: &TermStore, formulas: &[TermId]) -> Vec<Rational> {
    let mut found: FxHashSet<Rational> = FxHashSet::default();
    terms.post_order(formulas, |term| {
        if let Some(value) = terms.numeral(term)
            && found.len() < NUMERALS
        {
            found.insert(value);
        }
    });
    let mut found: Vec<Rational> = found.into_iter().collect();
    found.sort_unstable();
    found
}

impl Search<'_> {
    /// The cube with bounds moved outwards as far as it stays blocked, and its level.
    pub(super) fn expand_bounds(
        &mut self,
        predicate: usize,
        cube: Vec<TermId>,
        level: Level,
        from: Option<Level>,
    ) -> Result<(Vec<TermId>, Level), Stop> {
        let (mut cube, mut level) = (cube, level);
        if self.options.bound_numerals == 0 {
            return Ok((cube, level));
        }
        let terms = self.terms.clone();
        let facts = self.frames[predicate].facts.iter().map(|f| f.formula);
        let mut formulas: Vec<TermId> = facts.collect();
        if let Some(transition) = &self.transitions[predicate] {
            formulas.extend(transition.rules.iter().map(|r| r.constraint));
        }
        let numerals = numerals(&terms, &formulas);
        let mut position = 0;
        while position < cube.len() {
            for wider in wider(
                &terms,
                cube[position],
                &numerals,
                self.options.bound_numerals,
            ) {
                let mut candidate = cube.clone();
                candidate[position] = wider;
                if let Some((core, core_level)) = self.inductive(predicate, &candidate, from)? {
                    self.counters.expanded += 1;
                    cube = core;
                    level = core_level;
                    break;
                }
            }
            position += 1;
        }
        Ok((cube, level))
    }
}

/// Weaker bounds of the same terms by the given numerals, the weakest first.
fn wider(terms: &TermStore, part: TermId, numerals: &[Rational], most: usize) -> Vec<TermId> {
    let Some((shape, constant)) = shape(terms, part) else {
        return Vec::new();
    };
    let (relation, sign) = shape.kind.relation();
    if matches!(relation, Relation::Equal | Relation::Differs) {
        return Vec::new();
    }
    let upper = shape.kind.is_upper();
    let outside = numerals.iter().filter(|n| {
        if upper {
            **n > constant
        } else {
            **n < constant
        }
    });
    let mut outside: Vec<&Rational> = outside.collect();
    if upper {
        outside.reverse();
    }
    outside.truncate(most);
    let sort = terms.sort_of(shape.terms[0].0);
    let moved = |bound: &Rational| {
        let sum = Linear {
            monomials: shape.terms.clone(),
            constant: -bound,
        };
        let sign = Rational::from_integer(sign.into());
        literal(terms, &sum.scaled(&sign), relation, sort)
    };
    outside.into_iter().map(moved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::SortId;

    #[test]
    fn wider_bounds_are_implied() {
        let terms = TermStore::new();
        let x = terms.var("x", SortId::INT);
        let number = |n: i64| Rational::from_integer(n.into());
        let numerals = [-3, 0, 4, 9].map(number);
        let at_most = terms.le(x, terms.int(2));
        let found = wider(&terms, at_most, &numerals, 5);
        assert_eq!(found, [9, 4].map(|n| terms.le(x, terms.int(n))));
        let at_least = terms.ge(x, terms.int(2));
        let found = wider(&terms, at_least, &numerals, 1);
        assert_eq!(found, [terms.ge(x, terms.int(-3))]);
        assert!(wider(&terms, terms.eq(x, terms.int(2)), &numerals, 5).is_empty());
    }
}
