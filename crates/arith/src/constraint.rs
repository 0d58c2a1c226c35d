//! Linear constraints: a polynomial and its relation to zero.
//!
//! Invariant: operations on a constraint preserve its solutions; [`Constraint::tightened`], which is
//! valid over integers only, checks that all columns are of sort Int.

use num_traits::{One, Signed, Zero};

use alphorn_term::{Linear, Rational, SortId, TermId, TermStore};

/// A relation of a number to zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relation {
    /// `= 0`.
    Equal,
    /// `<= 0`.
    AtMost,
    /// `< 0`.
    Below,
    /// `≠ 0`.
    Differs,
    /// It is an integer: `t / m` in this relation is `t ≡ 0 (mod m)`.
    Integral,
}

impl Relation {
    /// Whether the number is in this relation to zero.
    pub fn holds(self, value: &Rational) -> bool {
        match self {
            Relation::Equal => value.is_zero(),
            Relation::AtMost => !value.is_positive(),
            Relation::Below => value.is_negative(),
            Relation::Differs => !value.is_zero(),
            Relation::Integral => value.is_integer(),
        }
    }

    /// Whether it is `<=` or `<`.
    pub fn is_bound(self) -> bool {
        matches!(self, Relation::AtMost | Relation::Below)
    }
}

/// `linear ⋈ 0`. The columns are terms of sort Int and Real unless said otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint<C = TermId> {
    /// The left-hand side.
    pub linear: Linear<C>,
    /// The relation to zero.
    pub relation: Relation,
}

impl<C: Copy + Ord> Constraint<C> {
    /// `linear ⋈ 0`.
    pub fn new(linear: Linear<C>, relation: Relation) -> Self {
        Constraint { linear, relation }
    }

    /// The constraint with its columns mapped.
    pub fn mapped<D: Copy + Ord>(&self, to: impl FnMut(C) -> D) -> Constraint<D> {
        Constraint::new(self.linear.mapped(to), self.relation)
    }

    /// The constraint with the polynomial `by` in place of `column`.
    pub fn substituted(&self, column: C, by: &Linear<C>) -> Self {
        Constraint::new(self.linear.substituted(column, by), self.relation)
    }
}

impl Constraint {
    /// An equivalent constraint: if all columns are of sort Int and the relation is not
    /// [`Relation::Integral`], with coprime coefficients and rounded bounds that are not strict;
    /// otherwise unchanged.
    pub fn tightened(&self, terms: &TermStore) -> Constraint {
        if self.linear.is_constant() || !is_over_int(terms, &self.linear) {
            return self.clone();
        }
        if self.relation == Relation::Integral {
            return self.clone();
        }
        let mut linear = self.linear.coprime();
        let relation = match self.relation {
            Relation::AtMost => {
                linear.constant = linear.constant.ceil();
                Relation::AtMost
            }
            Relation::Below => {
                linear.constant = linear.constant.floor() + Rational::one();
                Relation::AtMost
            }
            relation => relation,
        };
        Constraint { linear, relation }
    }
}

/// Whether all columns are of sort Int.
pub fn is_over_int(terms: &TermStore, linear: &Linear) -> bool {
    let mut monomials = linear.monomials.iter();
    monomials.all(|m| terms.sort_of(m.0) == SortId::INT)
}

/// Whether the constant and all coefficients are integers and all columns of sort Int.
pub fn is_integral(terms: &TermStore, linear: &Linear) -> bool {
    let mut coefficients = linear.monomials.iter().map(|m| &m.1);
    linear.constant.is_integer()
        && coefficients.all(Rational::is_integer)
        && is_over_int(terms, linear)
}
