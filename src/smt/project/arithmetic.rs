//! Linear arithmetic: what its two sorts share, and the order of elimination.
//!
//! First every `div`, `mod`, `to_int` and `is_int` over remaining variables is replaced by a
//! fresh integer with its defining bounds. Then reals are eliminated, mixed literals become integer
//! ones, and integers are eliminated. Variables in products and the like get their value.
//!
//! Invariant: all but the values is equivalence; the choice of bounds, which depends on the model,
//! is in `real` and `integer`.

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::rows::Rows;
use super::state::State;
use super::{equality, integer, real};
use crate::smt::implicant::is_arithmetic;
use crate::term::{Assignment, Linear, Op, Rational, SortId, TermId, TermStore};

/// Relation of a polynomial to zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::smt) enum Relation {
    Le,
    Lt,
    Eq,
    Ne,
}

/// `linear ⋈ 0`.
pub(in crate::smt) struct Constraint {
    pub linear: Linear,
    pub relation: Relation,
    pub sort: SortId,
}

impl Constraint {
    /// The constraint of an arithmetic literal.
    pub fn of(terms: &TermStore, literal: TermId) -> Option<Constraint> {
        let (atom, positive) = match *terms.op(literal) {
            Op::Not => (terms.node(terms.args(literal)[0]), false),
            _ => (terms.node(literal), true),
        };
        if atom.args.len() != 2 || !is_arithmetic(terms.sort_of(atom.args[0])) {
            return None;
        }
        let (relation, negate) = match (&atom.op, positive) {
            (Op::Le, true) => (Relation::Le, false),
            (Op::Ge, true) => (Relation::Le, true),
            (Op::Le, false) => (Relation::Lt, true),
            (Op::Ge, false) => (Relation::Lt, false),
            (Op::Eq, true) => (Relation::Eq, false),
            (Op::Eq, false) => (Relation::Ne, false),
            _ => return None,
        };
        let mut linear = terms
            .linear(atom.args[0])
            .add_scaled(&terms.linear(atom.args[1]), &-Rational::one());
        if negate {
            linear = linear.scaled(&-Rational::one());
        }
        Some(Constraint {
            linear,
            relation,
            sort: terms.sort_of(atom.args[0]),
        })
    }
}

/// The canonical literal `linear ⋈ 0`.
pub(super) fn literal(
    terms: &TermStore,
    linear: &Linear,
    relation: Relation,
    sort: SortId,
) -> TermId {
    match relation {
        Relation::Le => terms.linear_atom(Op::Le, linear, sort),
        Relation::Lt => terms.not(terms.linear_atom(Op::Ge, linear, sort)),
        Relation::Eq => terms.linear_atom(Op::Eq, linear, sort),
        Relation::Ne => terms.not(terms.linear_atom(Op::Eq, linear, sort)),
    }
}

/// Splits `linear` into the coefficient of `var` and the rest; `None` when another monomial holds
/// the variable.
pub(super) fn split_off(state: &State, linear: &Linear, var: TermId) -> Option<(Rational, Linear)> {
    let mut rest = linear.clone();
    let mut coefficient = Rational::zero();
    if let Ok(at) = rest.monomials.binary_search_by_key(&var, |m| m.0) {
        coefficient = rest.monomials.remove(at).1;
    }
    let hidden = rest.monomials.iter().any(|m| state.contains(m.0, var));
    (!hidden).then_some((coefficient, rest))
}

/// Eliminates all remaining variables of sorts Int and Real.
pub(super) fn eliminate(state: &mut State) {
    purify(state);
    equality::solve(state);
    settle(state, SortId::REAL);
    eliminate_sort(state, SortId::REAL);
    integerise(state);
    equality::solve(state);
    settle(state, SortId::INT);
    eliminate_sort(state, SortId::INT);
}

/// Replaces variables that do not occur linearly, so that the others do. Before that, what would
/// vanish anyway is dropped, for it may be all that was not linear.
fn settle(state: &mut State, sort: SortId) {
    let vars = state.remaining(|s| s == sort);
    let (pure, opaque): (Vec<TermId>, Vec<TermId>) =
        vars.into_iter().partition(|&v| is_pure(state, v));
    if opaque.is_empty() {
        return;
    }
    for var in pure {
        drop_unbounded(state, var);
    }
    replace_hidden(state, &opaque);
    for var in opaque {
        if state.is_remaining(var) && !is_pure(state, var) {
            state.replace_by_values(&[var]);
            // A value in a product makes the rest of it linear, and equations may appear.
            equality::solve(state);
        }
    }
    // Equations may have brought a variable into a place that is not linear.
    let vars = state.remaining(|s| s == sort);
    for var in vars {
        if !is_pure(state, var) {
            state.replace_by_values(&[var]);
        }
    }
}

/// Replaces those of the variables that occur under operators that are not arithmetic, all in one
/// step: by a kept term that is an index of the same value where they are indexes, or else by
/// their value.
fn replace_hidden(state: &mut State, vars: &[TermId]) {
    let terms = state.terms;
    let mut literals: Vec<TermId> = Vec::new();
    for &var in vars {
        literals.extend(state.literals_of(var));
    }
    let mut hidden: FxHashSet<TermId> = FxHashSet::default();
    let mut indexes: FxHashSet<TermId> = FxHashSet::default();
    // Each term once outside and once inside of such an operator.
    let mut seen: FxHashSet<(TermId, bool)> = FxHashSet::default();
    let mut stack: Vec<(TermId, bool)> = literals.into_iter().map(|l| (l, false)).collect();
    while let Some((term, inside)) = stack.pop() {
        let node = terms.node(term);
        if node.is_ground || !seen.insert((term, inside)) {
            continue;
        }
        let arithmetic = match node.op {
            Op::Var(_) if inside => {
                hidden.insert(term);
                continue;
            }
            Op::Select | Op::Store => {
                indexes.insert(node.args[1]);
                false
            }
            Op::Not | Op::Le | Op::Ge | Op::Add | Op::Mul | Op::IDiv | Op::Mod | Op::Div => true,
            Op::ToReal | Op::ToInt | Op::IsInt => true,
            Op::Eq => is_arithmetic(terms.sort_of(node.args[0])),
            _ => false,
        };
        stack.extend(node.args.iter().map(|&a| (a, !arithmetic)));
    }
    let mut kept: FxHashMap<(SortId, TermId), TermId> = FxHashMap::default();
    let mut ordered: Vec<TermId> = indexes.iter().copied().collect();
    ordered.sort_unstable();
    for index in ordered {
        if !terms.is_value(index)
            && !state.has_remaining(index)
            && let Some(value) = state.value(index)
        {
            kept.entry((terms.sort_of(index), value)).or_insert(index);
        }
    }
    let mut map = Assignment::default();
    let mut valued = Vec::new();
    for &var in vars {
        if !hidden.contains(&var) {
            continue;
        }
        let other = match state.value(var) {
            Some(value) if indexes.contains(&var) => {
                kept.get(&(terms.sort_of(var), value)).copied()
            }
            _ => None,
        };
        match other {
            Some(index) => {
                map.insert(var, index);
            }
            None => valued.push(var),
        }
    }
    state.substitute(&map);
    state.replace_by_values(&valued);
    equality::solve(state);
}

/// Whether the variable occurs in linear constraints of its own sort only.
pub(super) fn is_pure(state: &mut State, var: TermId) -> bool {
    let terms = state.terms;
    let sort = terms.sort_of(var);
    state.literals_of(var).into_iter().all(|literal| {
        let constraint = match as_divisibility(terms, literal) {
            Some((_, linear)) => Some((linear, SortId::INT)),
            None => Constraint::of(terms, literal).map(|c| (c.linear, c.sort)),
        };
        constraint.is_some_and(|(linear, s)| s == sort && split_off(state, &linear, var).is_some())
    })
}

/// Drops the literals of a variable that no literal bounds from below, or none from above.
fn drop_unbounded(state: &mut State, var: TermId) {
    let (mut below, mut above) = (true, true);
    for literal in state.literals_of(var) {
        let Some(constraint) = Constraint::of(state.terms, literal) else {
            return;
        };
        let coefficient = constraint.linear.coefficient(var);
        match constraint.relation {
            Relation::Le | Relation::Lt if coefficient.is_positive() => above = false,
            Relation::Le | Relation::Lt if coefficient.is_negative() => below = false,
            Relation::Ne => {}
            // Equations, and divisibilities, which hide the variable.
            _ => return,
        }
    }
    if below || above {
        state.drop_literals(var);
    }
}

fn eliminate_sort(state: &mut State, sort: SortId) {
    let vars = state.remaining(|s| s == sort);
    if vars.is_empty() || state.failed {
        return;
    }
    let Some(mut rows) = Rows::load(state, sort, &vars) else {
        state.failed = true;
        return;
    };
    state.valued += if sort == SortId::REAL {
        rows.run(real::discard, real::eliminate)
    } else {
        rows.run(integer::discard, integer::eliminate)
    };
    rows.unload(state);
}

/// Replaces integer division by numerals, `to_int` and `is_int` over remaining variables by fresh
/// integers.
fn purify(state: &mut State) {
    let terms = state.terms;
    let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut vars = state.remaining(is_arithmetic);
    while let Some(var) = vars.pop() {
        for literal in state.literals_of(var) {
            let mut side = Vec::new();
            let mut defined = true;
            let result = terms.rewrite_bottom_up(literal, &mut memo, |term| {
                match purified(state, term, &mut side) {
                    Some(other) => other,
                    None => {
                        defined = false;
                        term
                    }
                }
            });
            if !defined {
                state.failed = true;
                return;
            }
            if result != literal {
                state.remove(literal);
                state.add(result);
            }
            for literal in side {
                state.add(literal);
            }
        }
    }
}

fn purified(state: &mut State, term: TermId, side: &mut Vec<TermId>) -> Option<TermId> {
    let terms = state.terms;
    let node = terms.node(term);
    match node.op {
        Op::IDiv | Op::Mod => {
            let (dividend, divisor) = (node.args[0], node.args[1]);
            let Some(number) = terms.as_int(divisor).filter(|d| !d.is_zero()) else {
                return Some(term);
            };
            if !state.has_remaining(dividend) {
                return Some(term);
            }
            // dividend = divisor * quotient + rest, 0 <= rest < |divisor|
            let value = state.value(terms.idiv(dividend, divisor))?;
            let quotient = state.fresh(SortId::INT, value);
            let rest = terms.sub(dividend, terms.mul(&[divisor, quotient]));
            side.push(terms.ge(rest, terms.int(0)));
            side.push(terms.lt(rest, terms.int(number.abs())));
            Some(if node.op == Op::IDiv { quotient } else { rest })
        }
        Op::ToInt if state.has_remaining(node.args[0]) => {
            let value = state.value(term)?;
            let floor = state.fresh(SortId::INT, value);
            let rest = terms.sub(node.args[0], terms.to_real(floor));
            side.push(terms.ge(rest, terms.real(Rational::zero())));
            side.push(terms.lt(rest, terms.real(Rational::one())));
            Some(floor)
        }
        Op::IsInt if state.has_remaining(node.args[0]) => {
            let holds = state.value(term)?;
            let value = state.value(terms.to_int(node.args[0]))?;
            let floor = state.fresh(SortId::INT, value);
            let rest = terms.sub(node.args[0], terms.to_real(floor));
            let zero = terms.real(Rational::zero());
            if holds == TermId::TRUE {
                side.push(terms.eq(rest, zero));
            } else {
                side.push(terms.gt(rest, zero));
                side.push(terms.lt(rest, terms.real(Rational::one())));
            }
            Some(holds)
        }
        _ => Some(term),
    }
}

/// Turns literals over Real with remaining integers into literals over Int: with the integers on
/// the left, `n <= s` says `n <= to_int(s)`, `n < s` says `¬(n >= s)`, and so on.
fn integerise(state: &mut State) {
    let terms = state.terms;
    let mut vars = state.remaining(|s| s == SortId::INT);
    while let Some(var) = vars.pop() {
        for literal in state.literals_of(var) {
            let Some(constraint) = Constraint::of(terms, literal) else {
                continue;
            };
            if constraint.sort != SortId::REAL {
                continue;
            }
            if let Some(literals) = integerised(state, &constraint) {
                state.remove(literal);
                for literal in literals {
                    state.add(literal);
                }
            }
        }
    }
}

/// The value of a polynomial.
fn value_of(state: &mut State, linear: &Linear) -> Option<Rational> {
    let mut sum = linear.constant.clone();
    for (atom, coefficient) in &linear.monomials {
        sum += coefficient * state.number(*atom)?;
    }
    Some(sum)
}

fn integerised(state: &mut State, constraint: &Constraint) -> Option<Vec<TermId>> {
    let terms = state.terms;
    let zero = || Linear::constant(Rational::zero());
    let (mut whole, mut rest) = (zero(), zero());
    rest.constant = constraint.linear.constant.clone();
    for (atom, coefficient) in &constraint.linear.monomials {
        if *terms.op(*atom) == Op::ToReal {
            whole
                .monomials
                .push((terms.args(*atom)[0], coefficient.clone()));
        } else {
            rest.monomials.push((*atom, coefficient.clone()));
        }
    }
    if whole.monomials.is_empty() {
        return None;
    }
    whole.monomials.sort_unstable_by_key(|m| m.0);
    let factor = whole.integer_factor();
    let whole = whole.scaled(&factor);
    // whole ⋈ bound
    let bound = terms.from_linear(&rest.scaled(&-factor), SortId::REAL);
    let whole_term = terms.from_linear(&whole, SortId::INT);
    let floor = terms.to_int(bound);
    let ceiling = terms.neg(terms.to_int(terms.neg(bound)));
    Some(match constraint.relation {
        Relation::Le => vec![terms.le(whole_term, floor)],
        Relation::Lt => vec![terms.lt(whole_term, ceiling)],
        Relation::Eq => vec![terms.is_int(bound), terms.eq(whole_term, floor)],
        Relation::Ne => {
            let (left, right) = (value_of(state, &whole)?, state.number(bound)?);
            if left < right {
                vec![terms.lt(whole_term, ceiling)]
            } else {
                vec![terms.gt(whole_term, floor)]
            }
        }
    })
}

/// `t mod m = r` as `m` divides `t - r`.
pub(super) fn as_divisibility(terms: &TermStore, literal: TermId) -> Option<(BigInt, Linear)> {
    let node = terms.node(literal);
    if node.op != Op::Eq || *terms.op(node.args[0]) != Op::Mod {
        return None;
    }
    let residue = terms.as_int(node.args[1])?;
    let args = terms.args(node.args[0]);
    let modulus = terms.as_int(args[1])?;
    if residue.is_negative() || *residue >= modulus.abs() {
        return None;
    }
    let mut linear = terms.linear(args[0]);
    linear.constant -= Rational::from_integer(residue.clone());
    Some((modulus.abs(), linear))
}

/// `divisor` divides the polynomial: a literal `t mod divisor = r` with reduced coefficients.
pub(super) fn divides(terms: &TermStore, divisor: &BigInt, linear: &Linear) -> TermId {
    use num_integer::Integer;
    let mut common = divisor.clone();
    let mut monomials = Vec::with_capacity(linear.monomials.len());
    for (atom, coefficient) in &linear.monomials {
        let coefficient = coefficient.to_integer().mod_floor(divisor);
        if !coefficient.is_zero() {
            common = common.gcd(&coefficient);
            monomials.push((*atom, coefficient));
        }
    }
    let constant = linear.constant.to_integer().mod_floor(divisor);
    if !(&constant % &common).is_zero() {
        return TermId::FALSE;
    }
    let divisor = divisor / &common;
    let reduced = Linear {
        monomials: monomials
            .into_iter()
            .map(|(atom, c)| (atom, Rational::from_integer(c / &common)))
            .collect(),
        constant: Rational::zero(),
    };
    let residue = (-(constant / &common)).mod_floor(&divisor);
    let term = terms.from_linear(&reduced, SortId::INT);
    terms.eq(terms.modulo(term, terms.int(divisor)), terms.int(residue))
}
