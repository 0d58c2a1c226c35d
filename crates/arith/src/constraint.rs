//! Linear constraints: what a sum of multiples of columns is to zero.
//!
//! Invariant: operations are equivalences over the values that the columns have; those that need
//! integers ask whether there are only integers.

use num_traits::{One, Signed, Zero};

use alphorn_term::{Linear, Rational, SortId, TermId, TermStore};

/// How a number compares with zero.
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
    /// Whether a number is in the relation to zero.
    pub fn holds(self, value: &Rational) -> bool {
        match self {
            Relation::Equal => value.is_zero(),
            Relation::AtMost => !value.is_positive(),
            Relation::Below => value.is_negative(),
            Relation::Differs => !value.is_zero(),
            Relation::Integral => value.is_integer(),
        }
    }

    /// Whether it bounds a number from above.
    pub fn is_bound(self) -> bool {
        matches!(self, Relation::AtMost | Relation::Below)
    }
}

/// `linear ⋈ 0`. The columns are terms of sort Int and Real unless said otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint<C = TermId> {
    pub linear: Linear<C>,
    pub relation: Relation,
}

impl<C: Copy + Ord> Constraint<C> {
    /// `linear ⋈ 0`.
    pub fn new(linear: Linear<C>, relation: Relation) -> Self {
        Constraint { linear, relation }
    }

    /// The constraint over other columns.
    pub fn mapped<D: Copy + Ord>(&self, to: impl FnMut(C) -> D) -> Constraint<D> {
        Constraint::new(self.linear.mapped(to), self.relation)
    }

    /// The constraint with a polynomial in place of a column.
    pub fn substituted(&self, column: C, by: &Linear<C>) -> Self {
        Constraint::new(self.linear.substituted(column, by), self.relation)
    }
}

impl Constraint {
    /// The same for integers: where there are only integers, coefficients are coprime and bounds
    /// are not strict and as tight as they can be. Elsewhere the constraint as it is.
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

/// Whether all columns are integers.
pub fn is_over_int(terms: &TermStore, linear: &Linear) -> bool {
    let mut monomials = linear.monomials.iter();
    monomials.all(|m| terms.sort_of(m.0) == SortId::INT)
}

/// Whether all values of the sum are integers, by its coefficients and sorts.
pub fn is_integral(terms: &TermStore, linear: &Linear) -> bool {
    let mut coefficients = linear.monomials.iter().map(|m| &m.1);
    linear.constant.is_integer()
        && coefficients.all(Rational::is_integer)
        && is_over_int(terms, linear)
}
