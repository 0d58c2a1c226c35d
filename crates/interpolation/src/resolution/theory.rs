//! Bounds that are asserted and retracted: conflicts, points, and conflicts of integers.
//!
//! Invariant: a lemma is a contradiction of asserted literals.

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::derivation::Lemma;
use super::skeleton::{Meaning, Skeleton};
use alphorn_arith::{Constraint, Relation, Simplex, insoluble, is_over_int};
use alphorn_bits::sat::Lit;
use alphorn_term::{Linear, Rational, SortId, TermId};

/// Work charged for an entry of a row that is changed, as measured for small numbers.
const ENTRY_WORK: Duration = Duration::from_nanos(100);

/// Work charged for a bound that is asserted.
const BOUND_WORK: Duration = Duration::from_nanos(500);

/// The tightest upper bound of a form and the tightest lower one, with their constants.
type Tightest<'a> = [Option<(&'a Rational, Lit)>; 2];

pub(super) struct Theory {
    columns: FxHashMap<TermId, usize>,
    simplex: Simplex,
    /// The literals of the simplex's constraints, in their order.
    asserted: Vec<Lit>,
    charged: u64,
    /// Whether bounds were added since the last check.
    is_new: bool,
}

impl Theory {
    /// A theory over the columns of all bounds.
    pub fn new(skeleton: &Skeleton) -> Theory {
        let mut columns: FxHashMap<TermId, usize> = FxHashMap::default();
        for variable in &skeleton.variables {
            if let Meaning::Bound(bounds) = &variable.meaning {
                for (column, _) in &bounds[0].linear.monomials {
                    let next = columns.len();
                    columns.entry(*column).or_insert(next);
                }
            }
        }
        Theory {
            simplex: Simplex::new(columns.len()),
            columns,
            asserted: Vec::new(),
            charged: 0,
            is_new: true,
        }
    }

    /// The number of asserted literals.
    pub fn len(&self) -> usize {
        self.asserted.len()
    }

    /// Asserts a literal if it is a bound that occurs in a clause.
    pub fn assert(&mut self, skeleton: &Skeleton, literal: Lit) {
        let variable = &skeleton.variables[literal.variable() as usize];
        if !variable.occurs[usize::from(literal.is_negated())] {
            return;
        }
        if let Some(bound) = skeleton.constraint(literal) {
            skeleton.terms.charge(BOUND_WORK);
            self.simplex
                .add(&bound.mapped(|column| self.columns[&column]));
            self.asserted.push(literal);
            self.is_new = true;
        }
    }

    /// Retracts all but the first `kept` literals.
    pub fn retract(&mut self, kept: usize) {
        if kept < self.asserted.len() {
            self.asserted.truncate(kept);
            self.simplex.retract(kept);
        }
    }

    /// Whether the bounds have a point.
    pub fn check(&mut self, skeleton: &Skeleton) -> Result<(), Lemma> {
        if !std::mem::take(&mut self.is_new) {
            return Ok(());
        }
        let result = self.simplex.check();
        let work = self.simplex.work();
        let new = u32::try_from(work - self.charged).unwrap_or(u32::MAX);
        skeleton.terms.charge(ENTRY_WORK * new);
        self.charged = work;
        result.map_err(|multipliers| {
            let named = |(number, factor)| (self.asserted[number], factor);
            Lemma::Sum(multipliers.into_iter().map(named).collect())
        })
    }

    /// After a check without a conflict: a contradiction of equations over integers.
    pub fn congruence(&self, skeleton: &Skeleton) -> Option<Lemma> {
        let mut tightest: FxHashMap<&[(TermId, Rational)], Tightest> = FxHashMap::default();
        let mut forms = Vec::new();
        for &literal in &self.asserted {
            let Meaning::Bound(bounds) = &skeleton.variables[literal.variable() as usize].meaning
            else {
                continue;
            };
            let side = usize::from(literal.is_negated());
            let form = bounds[0].linear.monomials.as_slice();
            if bounds[0].relation != Relation::AtMost
                || !is_over_int(skeleton.terms, &bounds[0].linear)
            {
                continue;
            }
            let entry = tightest.entry(form).or_insert_with(|| {
                forms.push(form);
                [None; 2]
            });
            let constant = &bounds[side].linear.constant;
            if entry[side].is_none_or(|e| *constant > *e.0) {
                entry[side] = Some((constant, literal));
            }
        }
        let mut equations: Vec<(&Linear, [Lit; 2])> = Vec::new();
        for form in forms {
            if let [Some(upper), Some(lower)] = tightest[form]
                && *upper.0 == -lower.0
                && let Some(constraint) = skeleton.constraint(upper.1)
            {
                equations.push((&constraint.linear, [upper.1, lower.1]));
            }
        }
        let linears: Vec<&Linear> = equations.iter().map(|e| e.0).collect();
        let entries: usize = linears.iter().map(|l| l.monomials.len()).sum();
        skeleton.terms.charge(ENTRY_WORK * entries as u32);
        let factors = insoluble(&linears)?;
        let pairs = equations.iter().map(|e| e.1).zip(factors);
        let zero = Rational::from_integer(0.into());
        Some(Lemma::Congruence(pairs.filter(|p| p.1 != zero).collect()))
    }

    /// After a check without a conflict: a column over integers with a fractional value.
    pub fn broken(&self, skeleton: &Skeleton) -> Option<(TermId, Rational)> {
        let point = self.simplex.point();
        let bounds = self.asserted.iter().filter_map(|&l| skeleton.constraint(l));
        let columns = bounds.flat_map(|b: &Constraint| b.linear.monomials.iter().map(|m| m.0));
        let is_broken = |column: &TermId| {
            skeleton.terms.sort_of(*column) == SortId::INT
                && !point[self.columns[column]].is_integer()
        };
        let column = columns.filter(is_broken).min()?;
        Some((column, point[self.columns[&column]].clone()))
    }
}
