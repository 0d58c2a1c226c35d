//! Conversion between literals and constraints.
//!
//! Invariant: a literal and the constraint made of it are equivalent, and so are a constraint and
//! the formula made of it.

use num_integer::Integer;
use num_traits::{Signed, Zero};

use super::constraint::{Constraint, Relation, is_over_int};
use alphorn_term::{BigInt, Linear, Op, Rational, SortId, TermId, TermStore};

impl Constraint {
    /// The constraint of a comparison `=`, `<=` or `>=` of numbers or its negation; `None` for other
    /// literals. The columns are those of the linear normal form, all Int or all Real.
    pub fn comparison(terms: &TermStore, literal: TermId) -> Option<Constraint> {
        match *terms.op(literal) {
            Op::Not => Constraint::atom(terms, terms.args(literal)[0], false),
            _ => Constraint::atom(terms, literal, true),
        }
    }

    /// The constraint of a comparison, or of its negation if not `positive`; see
    /// [`Constraint::comparison`].
    pub fn atom(terms: &TermStore, atom: TermId, positive: bool) -> Option<Constraint> {
        let atom = terms.node(atom);
        let (relation, turned) = match (&atom.op, positive) {
            (Op::Eq, true) => (Relation::Equal, false),
            (Op::Eq, false) => (Relation::Differs, false),
            (Op::Le, true) => (Relation::AtMost, false),
            (Op::Ge, true) => (Relation::AtMost, true),
            (Op::Ge, false) => (Relation::Below, false),
            (Op::Le, false) => (Relation::Below, true),
            _ => return None,
        };
        let &[left, right] = &*atom.args else {
            return None;
        };
        if !terms.sort_of(left).is_number() {
            return None;
        }
        let linear = match turned {
            false => terms.difference(left, right),
            true => terms.difference(right, left),
        };
        Some(Constraint { linear, relation })
    }

    /// The constraint of a comparison that is not a disequality, so that its solutions are convex,
    /// lowered (see [`Constraint::lowered`]); `None` for other literals.
    pub fn convex(terms: &TermStore, literal: TermId) -> Option<Constraint> {
        let constraint = Constraint::comparison(terms, literal)?;
        (constraint.relation != Relation::Differs).then(|| constraint.lowered(terms))
    }

    /// The constraint that `(t - r) / m` is an integer, for a literal `t mod m = r` with numerals
    /// `m` and `r`, `0 <= r < |m|`; `None` for other literals.
    pub fn congruence(terms: &TermStore, literal: TermId) -> Option<Constraint> {
        let node = terms.node(literal);
        if node.op != Op::Eq || *terms.op(node.args[0]) != Op::Mod {
            return None;
        }
        let residue = terms.as_int(node.args[1])?;
        let args = terms.args(node.args[0]);
        let modulus = terms.as_int(args[1])?.abs();
        if residue.is_negative() || *residue >= modulus {
            return None;
        }
        let mut linear = terms.linear(args[0]);
        linear.constant -= Rational::from_integer(residue.clone());
        Some(Constraint {
            linear: linear.scaled(&Rational::new(1.into(), modulus)),
            relation: Relation::Integral,
        })
    }

    /// The constraint with `x` in place of each column `to_real(x)`, so that `x` has one column.
    pub fn lowered(self, terms: &TermStore) -> Constraint {
        Constraint {
            linear: lowered(terms, self.linear),
            relation: self.relation,
        }
    }

    /// The constraint as a formula: over Int if all columns are, else over Real. It is a literal, a
    /// value, or, if the only column is an `ite` with a numeral as a branch, a formula over its
    /// condition.
    pub fn formula(&self, terms: &TermStore) -> TermId {
        let int = is_over_int(terms, &self.linear);
        let sort = if int { SortId::INT } else { SortId::REAL };
        let is_mixed = !int && {
            let mut monomials = self.linear.monomials.iter();
            monomials.any(|m| terms.sort_of(m.0) == SortId::INT)
        };
        let lifted;
        let linear = if is_mixed {
            lifted = self.linear.mapped(|column| terms.to_real(column));
            &lifted
        } else {
            &self.linear
        };
        match self.relation {
            Relation::Equal => terms.linear_atom(Op::Eq, linear, sort),
            Relation::AtMost => terms.linear_atom(Op::Le, linear, sort),
            Relation::Below => terms.not(terms.linear_atom(Op::Ge, linear, sort)),
            Relation::Differs => terms.not(terms.linear_atom(Op::Eq, linear, sort)),
            Relation::Integral if int => integral(terms, linear),
            Relation::Integral => terms.is_int(terms.from_linear(linear, sort)),
        }
    }
}

/// A literal `left ⋈ right + value`. Since comparisons are in normal form, all literals that bound
/// the same difference have the same sides.
pub struct Comparison {
    /// The terms `left` and `right`; `right` has no constant.
    pub sides: (TermId, TermId),
    /// The constant.
    pub value: Rational,
    /// Whether the literal bounds `left - right` from below.
    pub lower: bool,
    /// Whether the literal bounds `left - right` from above.
    pub upper: bool,
    /// Whether the bound is strict.
    pub strict: bool,
}

impl Comparison {
    /// The parts of a comparison of numbers; `None` for disequalities and other literals.
    pub fn of(terms: &TermStore, literal: TermId) -> Option<Comparison> {
        let (atom, negated) = match *terms.op(literal) {
            Op::Not => (terms.node(terms.args(literal)[0]), true),
            _ => (terms.node(literal), false),
        };
        let (lower, upper) = match atom.op {
            Op::Le => (negated, !negated),
            Op::Ge => (!negated, negated),
            Op::Eq if !negated => (true, true),
            _ => return None,
        };
        let sort = terms.sort_of(atom.args[0]);
        if !sort.is_number() {
            return None;
        }
        let mut right = terms.linear(atom.args[1]);
        let value = std::mem::take(&mut right.constant);
        Some(Comparison {
            sides: (atom.args[0], terms.from_linear(&right, sort)),
            value,
            lower,
            upper,
            strict: negated,
        })
    }
}

/// The polynomial with `x` in place of each column `to_real(x)`.
pub fn lowered(terms: &TermStore, linear: Linear) -> Linear {
    let is_image = |column: TermId| *terms.op(column) == Op::ToReal;
    if !linear.monomials.iter().any(|m| is_image(m.0)) {
        return linear;
    }
    linear.mapped(|column| match is_image(column) {
        true => terms.args(column)[0],
        false => column,
    })
}

/// A formula `t mod m = r` that holds if and only if the value of the polynomial, over columns of
/// sort Int, is an integer. The coefficients of `t` are at most `m / 2` in absolute value, and they
/// and `m` have no common divisor.
fn integral(terms: &TermStore, linear: &Linear) -> TermId {
    let modulus = linear.denominator();
    let scale = Rational::from_integer(modulus.clone());
    let residue = |c: &Rational| (c * &scale).to_integer().mod_floor(&modulus);
    let mut common = modulus.clone();
    let mut monomials: Vec<(TermId, BigInt)> = Vec::with_capacity(linear.monomials.len());
    for (column, coefficient) in &linear.monomials {
        let coefficient = residue(coefficient);
        if !coefficient.is_zero() {
            common = common.gcd(&coefficient);
            monomials.push((*column, coefficient));
        }
    }
    let constant = residue(&linear.constant);
    if !constant.is_multiple_of(&common) {
        return TermId::FALSE;
    }
    let modulus = modulus / &common;
    let balanced = |c: BigInt| {
        let c = c / &common;
        let c = if &c + &c > modulus { c - &modulus } else { c };
        Rational::from_integer(c)
    };
    let sum = Linear {
        monomials: monomials
            .into_iter()
            .map(|(t, c)| (t, balanced(c)))
            .collect(),
        constant: Rational::zero(),
    };
    let sum = terms.from_linear(&sum, SortId::INT);
    let residue = (-(constant / &common)).mod_floor(&modulus);
    terms.eq(terms.modulo(sum, terms.int(modulus)), terms.int(residue))
}
