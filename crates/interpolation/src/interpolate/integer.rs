//! Certificates over integers: rounding, congruences, and branching where the rationals have a
//! point.
//!
//! Bounds over integers are rounded; `div`, `mod` and `to_int` are columns with their defining
//! bounds. If equations have no integer solution, rational multipliers make all coefficients
//! integers and the constant not: `A`'s part of the sum is a congruence over shared columns (Jain,
//! Clarke, Grumberg, "Efficient Craig interpolation for linear Diophantine (dis)equations and
//! linear modular equations", CAV 2008). Otherwise, the search branches on a column with a
//! fractional value: for a column of `A` the result is the disjunction of the interpolants of both
//! cases, for a column of `B` alone their conjunction.
//!
//! Invariant: every leaf has a certificate of its own; beyond the limit on cases, there is no
//! result.

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashSet;

use super::farkas::{refute, sums};
use super::limits::LIMITS;
use alphorn_arith::{Constraint, Multipliers, Relation, insoluble, is_over_int, lowered};
use alphorn_term::{Linear, Op, Rational, SortId, TermId, TermStore};

/// A formula that follows from the bounds of `a`, contradicts those of `b`, and has columns of
/// both; `None` if no certificate is found. `late` ends the search.
pub(super) fn separate(
    terms: &TermStore,
    a: &[Constraint],
    b: &[Constraint],
    decomposed: bool,
    late: &dyn Fn() -> bool,
) -> Option<TermId> {
    let mut search = Search {
        terms,
        a: a.iter().map(|bound| bound.tightened(terms)).collect(),
        b: b.iter().map(|bound| bound.tightened(terms)).collect(),
        decomposed,
        cases: 0,
        late,
    };
    if let Err(multipliers) = refute(terms, &search.a, &search.b) {
        return Some(search.leaf(&multipliers));
    }
    define(terms, &mut search.a);
    define(terms, &mut search.b);
    if let Some(congruence) = congruence(terms, &search.a, &search.b) {
        return Some(congruence);
    }
    search.solve()
}

/// Adds the definitions of columns that are `div`, `mod`, `to_int` or the value of a bit-vector.
fn define(terms: &TermStore, bounds: &mut Vec<Constraint>) {
    let mut seen: FxHashSet<TermId> = FxHashSet::default();
    let mut next = 0;
    let start = bounds.len();
    while next < bounds.len() && bounds.len() < start + LIMITS.max_definitions {
        let columns: Vec<TermId> = bounds[next].linear.monomials.iter().map(|m| m.0).collect();
        next += 1;
        for column in columns {
            if seen.insert(column) {
                definition(terms, column, bounds);
            }
        }
    }
}

fn definition(terms: &TermStore, column: TermId, bounds: &mut Vec<Constraint>) {
    let one = Rational::one();
    let node = terms.node(column);
    let mut add = |linear: Linear, relation| bounds.push(Constraint { linear, relation });
    match node.op {
        Op::Mod | Op::IDiv => {
            let Some(modulus) = terms.numeral(node.args[1]).filter(|m| !m.is_zero()) else {
                return;
            };
            let quotient = terms.idiv(node.args[0], node.args[1]);
            let rest = terms.modulo(node.args[0], node.args[1]);
            let mut sum = lowered(terms, terms.linear(node.args[0]));
            sum = sum.add_scaled(&terms.linear(quotient), &-modulus.clone());
            sum = sum.minus(&terms.linear(rest));
            add(sum, Relation::Equal);
            let rest = terms.linear(rest);
            add(rest.negated(), Relation::AtMost);
            let mut most = rest;
            most.constant += one - modulus.abs();
            add(most, Relation::AtMost);
        }
        Op::ToInt => {
            let exact = lowered(terms, terms.linear(node.args[0]));
            let below = Linear::unit(column).minus(&exact);
            let mut above = below.negated();
            above.constant -= one;
            add(below, Relation::AtMost);
            add(above, Relation::Below);
        }
        Op::BvToNat => {
            let width = terms.width(node.args[0]);
            add(Linear::unit(column).negated(), Relation::AtMost);
            let mut most = Linear::unit(column);
            let last = (BigInt::one() << width) - BigInt::one();
            most.constant = -Rational::from_integer(last);
            add(most, Relation::AtMost);
        }
        _ => {}
    }
}

struct Search<'a> {
    terms: &'a TermStore,
    a: Vec<Constraint>,
    b: Vec<Constraint>,
    decomposed: bool,
    cases: usize,
    late: &'a dyn Fn() -> bool,
}

impl Search<'_> {
    fn leaf(&self, multipliers: &Multipliers) -> TermId {
        let literals = sums(self.terms, &self.a, &self.b, multipliers, self.decomposed);
        self.terms.and(&literals)
    }

    /// The depth is bounded by the number of cases.
    fn solve(&mut self) -> Option<TermId> {
        self.cases += 1;
        if self.cases > LIMITS.max_cases || (self.late)() {
            return None;
        }
        let point = match refute(self.terms, &self.a, &self.b) {
            Err(multipliers) => return Some(self.leaf(&multipliers)),
            Ok(point) => point,
        };
        let is_broken =
            |e: &(TermId, Rational)| self.terms.sort_of(e.0) == SortId::INT && !e.1.is_integer();
        let (column, value) = point.into_iter().filter(is_broken).min_by_key(|e| e.0)?;
        let of_a = self
            .a
            .iter()
            .any(|bound| !bound.linear.coefficient(column).is_zero());
        let mut parts = Vec::with_capacity(2);
        for up in [false, true] {
            let sign = if up {
                -Rational::one()
            } else {
                Rational::one()
            };
            let end = if up { value.ceil() } else { value.floor() };
            let mut linear = Linear::unit(column);
            linear.constant = -end;
            let case = Constraint::new(linear.scaled(&sign), Relation::AtMost);
            let side = if of_a { &mut self.a } else { &mut self.b };
            side.push(case);
            let part = self.solve();
            let side = if of_a { &mut self.a } else { &mut self.b };
            side.pop();
            parts.push(part?);
        }
        Some(match of_a {
            true => self.terms.or(&parts),
            false => self.terms.and(&parts),
        })
    }
}

/// A congruence that follows from the equations of `a` and contradicts those of `b`, if they have
/// no common integer solution.
fn congruence(terms: &TermStore, a: &[Constraint], b: &[Constraint]) -> Option<TermId> {
    let is_equation = |bound: &&Constraint| {
        bound.relation == Relation::Equal && is_over_int(terms, &bound.linear)
    };
    let own = a.iter().filter(is_equation).map(|e| &e.linear);
    let others = b.iter().filter(is_equation).map(|e| &e.linear);
    let equations: Vec<&Linear> = own.clone().chain(others).collect();
    let multipliers = insoluble(&equations)?;
    let mut sum = Linear::constant(Rational::zero());
    for (form, factor) in own.zip(&multipliers) {
        sum = sum.add_scaled(form, factor);
    }
    // Integer multiples of integers are dropped, and with them all columns of `a` alone.
    Some(Constraint::new(sum, Relation::Integral).formula(terms))
}
