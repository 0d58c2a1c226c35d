//! Solves a conjunct for one variable: by an equation, or by a value that makes the conjunct true.
//!
//! Invariant: the term that is returned does not contain the variable, and no solver is used.

use num_bigint::BigUint;
use num_traits::{One, Signed, Zero};

use alphorn_term::{Linear, Op, Rational, Sort, SortId, TermId, TermStore};

/// Variables for which [`definition`] may solve `conjunct`, read as an equation.
pub(super) fn definable(terms: &TermStore, conjunct: TermId) -> Vec<TermId> {
    let node = terms.node(conjunct);
    match &node.op {
        Op::Var(_) => vec![conjunct],
        Op::Not => {
            let inner = terms.node(node.args[0]);
            match &inner.op {
                Op::Var(_) => vec![node.args[0]],
                Op::Eq if terms.sort_of(inner.args[0]) == SortId::BOOL => {
                    direct_vars(terms, &inner.args)
                }
                _ => Vec::new(),
            }
        }
        Op::Eq => {
            let sort = terms.sort_of(node.args[0]);
            if sort == SortId::INT || sort == SortId::REAL {
                // In the canonical form of an equation no atom is on both sides.
                let mut vars = Vec::new();
                for &side in &*node.args {
                    for (atom, coefficient) in &terms.linear(side).monomials {
                        if terms.is_var(*atom) && (sort == SortId::REAL || coefficient.is_one()) {
                            vars.push(*atom);
                        }
                    }
                }
                vars
            } else if matches!(terms.sort(sort), Sort::BitVec(_)) {
                let summands: Vec<TermId> = node
                    .args
                    .iter()
                    .flat_map(|&side| summands(terms, side))
                    .collect();
                direct_vars(terms, &summands)
            } else {
                direct_vars(terms, &node.args)
            }
        }
        _ => Vec::new(),
    }
}

fn direct_vars(terms: &TermStore, args: &[TermId]) -> Vec<TermId> {
    args.iter().copied().filter(|&a| terms.is_var(a)).collect()
}

/// The summands of a bit-vector sum; the term itself if it is none.
fn summands(terms: &TermStore, term: TermId) -> Vec<TermId> {
    let mut result = Vec::new();
    let mut stack = vec![term];
    while let Some(t) = stack.pop() {
        let node = terms.node(t);
        if node.op == Op::BvAdd {
            stack.extend_from_slice(&node.args);
        } else {
            result.push(t);
        }
    }
    result
}

/// A term `t` with `conjunct ⇔ var = t`, without `var`; `None` if none is found.
pub fn definition(terms: &TermStore, conjunct: TermId, var: TermId) -> Option<TermId> {
    let term = equation_for(terms, conjunct, var)?;
    (!occurs(terms, term, var)).then_some(term)
}

fn equation_for(terms: &TermStore, conjunct: TermId, var: TermId) -> Option<TermId> {
    if conjunct == var {
        return Some(TermId::TRUE);
    }
    let node = terms.node(conjunct);
    match &node.op {
        Op::Not if node.args[0] == var => Some(TermId::FALSE),
        Op::Not => {
            let inner = terms.node(node.args[0]);
            if inner.op != Op::Eq || terms.sort_of(inner.args[0]) != SortId::BOOL {
                return None;
            }
            other_side(&inner.args, var).map(|t| terms.not(t))
        }
        Op::Eq => {
            let sort = terms.sort_of(node.args[0]);
            if sort == SortId::INT || sort == SortId::REAL {
                let (coefficient, rest) = isolate(terms, node.args[0], node.args[1], var)?;
                if sort == SortId::INT && !coefficient.abs().is_one() {
                    return None;
                }
                let solved = rest.scaled(&-coefficient.recip());
                return Some(terms.from_linear(&solved, sort));
            }
            if matches!(terms.sort(sort), Sort::BitVec(_)) {
                return bitvec_equation(terms, node.args[0], node.args[1], var);
            }
            other_side(&node.args, var)
        }
        _ => None,
    }
}

fn other_side(args: &[TermId], var: TermId) -> Option<TermId> {
    match args {
        [a, b] if *a == var => Some(*b),
        [a, b] if *b == var => Some(*a),
        _ => None,
    }
}

fn bitvec_equation(terms: &TermStore, left: TermId, right: TermId, var: TermId) -> Option<TermId> {
    for (side, other) in [(left, right), (right, left)] {
        let mut rest = summands(terms, side);
        if let Some(at) = rest.iter().position(|&t| t == var) {
            rest.swap_remove(at);
            return Some(
                rest.into_iter()
                    .fold(other, |sum, summand| terms.bv_sub(sum, summand)),
            );
        }
    }
    None
}

/// `left - right` as `coefficient * var + rest`; `None` if `var` is not one of its atoms.
fn isolate(
    terms: &TermStore,
    left: TermId,
    right: TermId,
    var: TermId,
) -> Option<(Rational, Linear)> {
    let (coefficient, rest) = terms.difference(left, right).split_off(var);
    (!coefficient.is_zero()).then_some((coefficient, rest))
}

/// Whether a variable occurs in a term.
pub(super) fn occurs(terms: &TermStore, term: TermId, var: TermId) -> bool {
    term == var || terms.free_vars(&[term]).contains(&var)
}

/// A bound on one variable from an arithmetic literal.
pub(super) enum Bound {
    /// The literal is true for every value from this term on.
    Lower(TermId),
    /// The literal is true for every value up to this term.
    Upper(TermId),
    /// The literal is true for every value up to the first term and from the second term on.
    Outside(TermId, TermId),
}

/// A literal `size * var ≤ side`, or with `≥`, `<` or `>`.
pub(super) struct LinearBound {
    /// Positive.
    pub size: Rational,
    /// The other side, without the variable.
    pub side: Linear,
    /// Whether the literal is an upper bound.
    pub upper: bool,
    /// Whether equality is excluded; over Real only.
    pub strict: bool,
}

/// Reads a comparison as a bound on `var`, which does not occur inside the other monomials; `None`
/// if it is none.
pub(super) fn linear_bound(terms: &TermStore, literal: TermId, var: TermId) -> Option<LinearBound> {
    let (atom, negated) = match terms.node(literal) {
        node if node.op == Op::Not => (node.args[0], true),
        _ => (literal, false),
    };
    let node = terms.node(atom);
    if !matches!(node.op, Op::Le | Op::Ge) {
        return None;
    }
    let (size, side, positive) = isolate_positive(terms, node.args[0], node.args[1], var)?;
    Some(LinearBound {
        size,
        side,
        upper: (node.op == Op::Le) == (positive != negated),
        strict: negated,
    })
}

/// `left - right` as `size * var - side` with a positive size, or as the negation of that if the
/// last value is false; `None` if `var` is not one of its atoms, or occurs inside another one.
fn isolate_positive(
    terms: &TermStore,
    left: TermId,
    right: TermId,
    var: TermId,
) -> Option<(Rational, Linear, bool)> {
    let (coefficient, rest) = isolate(terms, left, right, var)?;
    if hidden(terms, &rest, var) {
        return None;
    }
    let positive = coefficient.is_positive();
    let side = match positive {
        true => rest.negated(),
        false => rest,
    };
    Some((coefficient.abs(), side, positive))
}

/// Whether `var` occurs inside a monomial's term.
fn hidden(terms: &TermStore, linear: &Linear, var: TermId) -> bool {
    linear
        .monomials
        .iter()
        .any(|(t, _)| !terms.is_var(*t) && occurs(terms, *t, var))
}

/// Reads a literal `c*v ⋈ t` as a bound on `var`; `None` if it is none.
pub(super) fn bound(terms: &TermStore, literal: TermId, var: TermId) -> Option<Bound> {
    let (atom, negated) = match terms.node(literal) {
        node if node.op == Op::Not => (node.args[0], true),
        _ => (literal, false),
    };
    let node = terms.node(atom);
    if !matches!(node.op, Op::Le | Op::Ge | Op::Eq) || (node.op == Op::Eq && !negated) {
        return None;
    }
    let sort = terms.sort_of(node.args[0]);
    if sort != SortId::INT && sort != SortId::REAL {
        return None;
    }
    let (size, side, positive) = isolate_positive(terms, node.args[0], node.args[1], var)?;
    let (floor, ceiling) = if sort == SortId::REAL {
        let quotient = terms.from_linear(&side.scaled(&size.recip()), sort);
        (quotient, quotient)
    } else {
        let divide = |by: &Rational| {
            let mut shifted = side.clone();
            shifted.constant += by;
            let term = terms.from_linear(&shifted, sort);
            terms.idiv(term, terms.int(size.to_integer()))
        };
        (
            divide(&Rational::zero()),
            divide(&(&size - Rational::one())),
        )
    };
    let one = terms.number(&Rational::one(), sort);
    let above = || terms.add(&[floor, one]);
    let below = || terms.sub(ceiling, one);
    if node.op == Op::Eq {
        return Some(Bound::Outside(below(), above()));
    }
    // Over Int there is no negated bound: the term store turns it into a bound.
    let upper = (node.op == Op::Le) == (positive != negated);
    Some(match (upper, negated) {
        (true, false) => Bound::Upper(floor),
        (true, true) => Bound::Upper(below()),
        (false, false) => Bound::Lower(ceiling),
        (false, true) => Bound::Lower(above()),
    })
}

/// A term `t` without `var` such that `conjunct` is true whenever `var = t`, for all values of its
/// other variables.
pub(super) fn witness(terms: &TermStore, conjunct: TermId, var: TermId) -> Option<TermId> {
    let node = terms.node(conjunct);
    let found = if node.op == Op::Or {
        node.args
            .iter()
            .find_map(|&disjunct| literal_witness(terms, disjunct, var))
    } else {
        literal_witness(terms, conjunct, var)
    }?;
    (!occurs(terms, found, var)).then_some(found)
}

fn literal_witness(terms: &TermStore, literal: TermId, var: TermId) -> Option<TermId> {
    if let Some(term) = definition(terms, literal, var) {
        return Some(term);
    }
    if let Some(bound) = bound(terms, literal, var) {
        return Some(match bound {
            Bound::Lower(t) | Bound::Upper(t) | Bound::Outside(_, t) => t,
        });
    }
    let (atom, negated) = match terms.node(literal) {
        node if node.op == Op::Not => (node.args[0], true),
        _ => (literal, false),
    };
    let node = terms.node(atom);
    match node.op {
        Op::Eq if negated => {
            let other = other_side(&node.args, var)?;
            if occurs(terms, other, var) {
                return None;
            }
            match terms.sort(terms.sort_of(var)) {
                Sort::BitVec(width) => {
                    Some(terms.bv_op(&Op::BvAdd, &[other, terms.bitvec(BigUint::one(), width)]))
                }
                _ => None,
            }
        }
        Op::BvUle | Op::BvSle if !negated => {
            let width = terms.width(var);
            let least = node.args[0] == var;
            if !least && node.args[1] != var {
                return None;
            }
            let top = BigUint::one() << (width - 1);
            let value = match (&node.op, least) {
                (Op::BvUle, true) => BigUint::zero(),
                (Op::BvUle, false) => (BigUint::one() << width) - BigUint::one(),
                (_, true) => top,
                (_, false) => top - BigUint::one(),
            };
            Some(terms.bitvec(value, width))
        }
        Op::Is(datatype, constructor) if node.args[0] == var => {
            let constructors = &terms.datatype(datatype).constructors;
            (0..constructors.len() as u32)
                .filter(|&c| (c == constructor) != negated)
                .find_map(|c| {
                    let fields: Option<Vec<TermId>> = constructors[c as usize]
                        .fields
                        .iter()
                        .map(|f| terms.default_value(f.sort))
                        .collect();
                    Some(terms.construct(datatype, c, &fields?))
                })
        }
        _ => None,
    }
}

/// The greatest (or least) of some numeric terms.
pub(super) fn extremum(terms: &TermStore, candidates: &[TermId], greatest: bool) -> TermId {
    let mut best = candidates[0];
    for &other in &candidates[1..] {
        let keep = if greatest {
            terms.ge(best, other)
        } else {
            terms.le(best, other)
        };
        best = terms.ite(keep, best, other);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use alphorn_term::{Assignment, evaluate};

    fn check(terms: &TermStore, conjunct: TermId, var: TermId, others: &[TermId], exact: bool) {
        let found = if exact {
            definition(terms, conjunct, var)
        } else {
            witness(terms, conjunct, var)
        };
        let found = found.expect("solved");
        for value in -5..6 {
            let mut values: Assignment = others
                .iter()
                .enumerate()
                .map(|(i, &o)| {
                    let number = Rational::from_integer((value * (i as i64 + 1)).into());
                    (o, terms.number(&number, terms.sort_of(o)))
                })
                .collect();
            let solved = evaluate(terms, found, &values).expect("defined");
            values.insert(var, solved);
            assert_eq!(evaluate(terms, conjunct, &values), Some(TermId::TRUE));
        }
    }

    #[test]
    fn solves_linear_equations() {
        let t = TermStore::new();
        let (x, y, z) = (
            t.var("x", SortId::INT),
            t.var("y", SortId::INT),
            t.var("z", SortId::INT),
        );
        let two_y = t.mul(&[t.int(2), y]);
        let equation = t.eq(t.add(&[x, two_y]), t.sub(z, t.int(7)));
        assert_eq!(definable(&t, equation).len(), 2);
        check(&t, equation, x, &[y, z], true);
        check(&t, equation, z, &[x, y], true);
        assert!(definition(&t, equation, y).is_none());
        let rest = t.modulo(x, t.int(3));
        assert!(definition(&t, t.eq(x, rest), x).is_none());
    }

    #[test]
    fn witnesses_make_literals_true() {
        let t = TermStore::new();
        for sort in [SortId::INT, SortId::REAL] {
            let (x, y) = (t.var("x", sort), t.var("y", sort));
            let number = |n: i64| t.number(&Rational::from_integer(n.into()), sort);
            for factor in [-3, -1, 1, 2, 3] {
                let scaled = t.mul(&[number(factor), x]);
                let other = t.add(&[t.mul(&[number(5), y]), number(1)]);
                for literal in [
                    t.le(scaled, other),
                    t.lt(scaled, other),
                    t.ge(scaled, other),
                    t.gt(scaled, other),
                    t.not(t.eq(scaled, other)),
                    t.or(&[t.eq(y, number(4)), t.gt(scaled, other)]),
                ] {
                    check(&t, literal, x, &[y], false);
                }
            }
        }
    }

    #[test]
    fn bitvector_sums_are_solved() {
        let t = TermStore::new();
        let sort = t.bitvec_sort(8);
        let (x, y) = (t.var("x", sort), t.var("y", sort));
        let sum = t.bv_op(&Op::BvAdd, &[x, t.bitvec(BigUint::from(3u32), 8)]);
        let found = definition(&t, t.eq(sum, y), x).expect("solved");
        let values: Assignment = [(y, t.bitvec(BigUint::one(), 8))].into_iter().collect();
        assert_eq!(
            evaluate(&t, found, &values),
            Some(t.bitvec(BigUint::from(254u32), 8))
        );
    }
}
