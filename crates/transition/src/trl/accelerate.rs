//! Acceleration: from one pass through a loop to any number of passes with the same differences.
//!
//! After Frohn, Giesl, "Integrating loop acceleration into bounded model checking" (FM 2024).
//! Deviation: there are no recurrences to solve and no metering functions. The differences are
//! those of the model, and the guard is convex: if it holds for the first and the last pass, it
//! holds for those between.
//!
//! Invariant: the relation is transitive, the pass is one of its instances, and each of its
//! instances is a number of passes in a row.

use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::learn::{Pass, is_convex};
use alphorn_arith::{Constraint, Relation};
use alphorn_interpolation::project;
use alphorn_term::{BigInt, Rational, SortId, TermId, TermStore};

/// A repeated pass.
pub(super) struct Acceleration {
    /// The relation, over the arguments before and after the pass.
    pub literals: Vec<TermId>,
    /// For each argument, the difference that one pass makes; `None` for arguments that are no
    /// numbers, which stay the same.
    pub difference: Vec<Option<Rational>>,
}

impl Acceleration {
    /// The number of passes from one state to another; `None` if it is no integer.
    pub fn passes(&self, terms: &TermStore, from: &[TermId], to: &[TermId]) -> Option<BigInt> {
        for (index, difference) in self.difference.iter().enumerate() {
            if let Some(difference) = difference.as_ref().filter(|d| !d.is_zero()) {
                let whole = terms.numeral(to[index])? - terms.numeral(from[index])?;
                let passes = whole / difference;
                return passes.is_integer().then(|| passes.to_integer());
            }
        }
        None
    }

    /// The state that is `passes` after the state `from`.
    pub fn state(
        &self,
        terms: &TermStore,
        from: &[TermId],
        passes: &BigInt,
    ) -> Option<Vec<TermId>> {
        let passes = Rational::from_integer(passes.clone());
        let next = |(&value, difference): (&TermId, &Option<Rational>)| match difference {
            Some(difference) => {
                let sum = terms.numeral(value)? + difference * &passes;
                Some(terms.number(&sum, terms.sort_of(value)))
            }
            None => Some(value),
        };
        from.iter().zip(&self.difference).map(next).collect()
    }
}

impl Pass<'_> {
    /// The relation of one or more passes with the differences of the model. `None` if the pass
    /// changes no number, or changes another argument, or if its guard is not convex or holds only
    /// once.
    pub fn accelerate(&self, terms: &TermStore) -> Option<Acceleration> {
        let mut difference = Vec::with_capacity(self.before.len());
        let mut next = FxHashMap::default();
        let mut last = FxHashMap::default();
        let mut pivot: Option<(usize, Rational)> = None;
        let mut changing = FxHashSet::default();
        for (index, (&before, &after)) in self.before.iter().zip(self.after).enumerate() {
            let (old, new) = (*self.values.get(&before)?, *self.values.get(&after)?);
            let sort = terms.sort_of(before);
            if !sort.is_number() {
                if old != new {
                    return None;
                }
                next.insert(after, before);
                difference.push(None);
                continue;
            }
            let change = terms.numeral(new)? - terms.numeral(old)?;
            let constant = terms.number(&change, sort);
            next.insert(after, terms.add(&[before, constant]));
            if !change.is_zero() {
                changing.insert(before);
                last.insert(before, terms.sub(after, constant));
                let is_int = sort == SortId::INT;
                let better = match &pivot {
                    None => true,
                    Some((best, size)) => {
                        let best_is_int = terms.sort_of(self.before[*best]) == SortId::INT;
                        (is_int && !best_is_int)
                            || (is_int == best_is_int && change.abs() < size.abs())
                    }
                };
                if better {
                    pivot = Some((index, change.clone()));
                }
            }
            difference.push(Some(change));
        }
        let (pivot, step) = pivot?;
        let mut memo = FxHashMap::default();
        let literals: Vec<TermId> = self
            .literals
            .iter()
            .map(|&l| terms.substitute_with(l, &next, &mut memo))
            .collect();
        let kept: FxHashSet<TermId> = self.before.iter().copied().collect();
        let vars = terms.free_vars(&literals);
        let eliminate: Vec<TermId> = vars.into_iter().filter(|v| !kept.contains(v)).collect();
        let guard = project(terms, &literals, &eliminate, self.values)?.literals;
        let by_var: FxHashMap<TermId, &Rational> = self
            .before
            .iter()
            .zip(&difference)
            .filter_map(|(&v, d)| Some((v, d.as_ref()?)))
            .collect();
        let repeats = |literal: TermId| match Constraint::congruence(terms, literal) {
            // Holds after each pass if the difference is a multiple of the modulus.
            Some(mut congruence) => {
                congruence.linear.constant = Rational::zero();
                let change = congruence
                    .linear
                    .value(|v| by_var.get(&v).map(|&d| d.clone()));
                change.is_some_and(|c| c.is_integer())
            }
            None => is_convex(terms, literal, &changing) && !stops(terms, literal, &by_var),
        };
        if !guard.iter().all(|&l| repeats(l)) {
            return None;
        }
        let mut found = guard.clone();
        let mut memo = FxHashMap::default();
        found.extend(
            guard
                .iter()
                .map(|&l| terms.substitute_with(l, &last, &mut memo)),
        );
        self.repetition(terms, pivot, &step, &difference, &mut found);
        let mut seen = FxHashSet::default();
        found.retain(|&l| l != TermId::TRUE && seen.insert(l));
        let has_instance = self.has_instance(terms, &found);
        has_instance.then_some(Acceleration {
            literals: found,
            difference,
        })
    }

    /// Adds literals that all arguments change by the same integer multiple, at least one, of their
    /// differences.
    fn repetition(
        &self,
        terms: &TermStore,
        pivot: usize,
        step: &Rational,
        difference: &[Option<Rational>],
        found: &mut Vec<TermId>,
    ) {
        let change = |index: usize| terms.sub(self.after[index], self.before[index]);
        let sort = terms.sort_of(self.before[pivot]);
        let first = terms.number(step, sort);
        let (whole, one) = (change(pivot), Rational::one());
        found.push(if step.is_positive() {
            terms.ge(whole, first)
        } else {
            terms.le(whole, first)
        });
        if sort == SortId::INT {
            let modulus = terms.int(step.to_integer().abs());
            found.push(terms.eq(terms.modulo(whole, modulus), terms.int(0)));
        } else {
            found.push(terms.is_int(terms.scale(&(&one / step), whole)));
        }
        let real = |term: TermId| match terms.sort_of(term) {
            SortId::INT => terms.to_real(term),
            _ => term,
        };
        for (index, other) in difference.iter().enumerate() {
            match other {
                _ if index == pivot => {}
                None => found.push(terms.eq(self.before[index], self.after[index])),
                Some(other) => {
                    let (left, right) = (change(index), whole);
                    let same = terms.sort_of(left) == terms.sort_of(right);
                    let (left, right) = if same {
                        (left, right)
                    } else {
                        (real(left), real(right))
                    };
                    // left / other = right / step; over integers without division.
                    let (left, right) = if same && sort == SortId::INT {
                        (terms.scale(step, left), terms.scale(other, right))
                    } else {
                        (left, terms.scale(&(other / step), right))
                    };
                    found.push(terms.eq(left, right));
                }
            }
        }
    }
}

/// Whether a literal is an equation that does not hold after another pass.
fn stops(terms: &TermStore, literal: TermId, change: &FxHashMap<TermId, &Rational>) -> bool {
    let Some(mut equation) = Constraint::comparison(terms, literal) else {
        return false;
    };
    equation.linear.constant = Rational::zero();
    let by = |v: TermId| Some(change.get(&v).map_or_else(Rational::zero, |d| (*d).clone()));
    let changes = equation.linear.value(by).is_some_and(|sum| !sum.is_zero());
    equation.relation == Relation::Equal && changes
}
