//! Linear normal form: a sum of rational multiples of columns plus a constant.
//!
//! Invariant: monomials are in ascending order of their columns, and no coefficient is zero. In the
//! normal form of a term, no column is a sum, a numeral or a multiple of a term by a numeral.

use std::borrow::Cow;

use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use super::rational::{product, sum};
use super::{BigInt, Op, Rational, SortId, TermId, TermStore};

/// A sum of rational multiples of columns, plus a constant. By default columns are terms:
/// variables, selects, products and others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear<C = TermId> {
    /// `(column, coefficient)`, in ascending order of columns, no coefficient zero.
    pub monomials: Vec<(C, Rational)>,
    /// The constant.
    pub constant: Rational,
}

impl<C: Copy + Ord> Linear<C> {
    /// The constant polynomial.
    pub fn constant(constant: Rational) -> Self {
        Linear {
            monomials: Vec::new(),
            constant,
        }
    }

    /// The polynomial `column`.
    pub fn unit(column: C) -> Self {
        Linear {
            monomials: vec![(column, Rational::one())],
            constant: Rational::zero(),
        }
    }

    /// Whether it has no column.
    pub fn is_constant(&self) -> bool {
        self.monomials.is_empty()
    }

    /// The coefficient of a column; zero if it does not occur.
    pub fn coefficient(&self, column: C) -> Rational {
        match self.monomials.binary_search_by_key(&column, |m| m.0) {
            Ok(at) => self.monomials[at].1.clone(),
            Err(_) => Rational::zero(),
        }
    }

    /// `self + factor * other`.
    pub fn add_scaled(&self, other: &Self, factor: &Rational) -> Self {
        let mut monomials = Vec::with_capacity(self.monomials.len() + other.monomials.len());
        let (mut i, mut j) = (0, 0);
        while i < self.monomials.len() || j < other.monomials.len() {
            let left = self.monomials.get(i).map(|m| m.0);
            let right = other.monomials.get(j).map(|m| m.0);
            match (left, right) {
                (Some(a), Some(b)) if a == b => {
                    let added = product(&other.monomials[j].1, factor);
                    let coefficient = sum(&self.monomials[i].1, &added);
                    if !coefficient.is_zero() {
                        monomials.push((a, coefficient));
                    }
                    i += 1;
                    j += 1;
                }
                (Some(a), b) if b.is_none_or(|b| a < b) => {
                    monomials.push(self.monomials[i].clone());
                    i += 1;
                }
                _ => {
                    let (column, coefficient) = &other.monomials[j];
                    let scaled = product(coefficient, factor);
                    if !scaled.is_zero() {
                        monomials.push((*column, scaled));
                    }
                    j += 1;
                }
            }
        }
        Linear {
            monomials,
            constant: sum(&self.constant, &product(&other.constant, factor)),
        }
    }

    /// `self - other`.
    pub fn minus(&self, other: &Self) -> Self {
        self.add_scaled(other, &-Rational::one())
    }

    /// `factor * self`.
    pub fn scaled(&self, factor: &Rational) -> Self {
        if factor.is_zero() {
            return Linear::constant(Rational::zero());
        }
        Linear {
            monomials: self
                .monomials
                .iter()
                .map(|(t, c)| (*t, product(c, factor)))
                .collect(),
            constant: product(&self.constant, factor),
        }
    }

    /// `-self`.
    pub fn negated(&self) -> Self {
        self.scaled(&-Rational::one())
    }

    /// `(coefficient, rest)` such that the polynomial is `coefficient * column + rest`.
    pub fn split_off(mut self, column: C) -> (Rational, Self) {
        let at = self.monomials.binary_search_by_key(&column, |m| m.0);
        let coefficient = at.map_or_else(|_| Rational::zero(), |at| self.monomials.remove(at).1);
        (coefficient, self)
    }

    /// The polynomial with `by` in place of `column`.
    pub fn substituted(&self, column: C, by: &Self) -> Self {
        let (coefficient, rest) = self.clone().split_off(column);
        rest.add_scaled(by, &coefficient)
    }

    /// The polynomial with its columns mapped; coefficients of columns with one image are added.
    pub fn mapped<D: Copy + Ord>(&self, mut to: impl FnMut(C) -> D) -> Linear<D> {
        let monomials = self.monomials.iter();
        let mut mapped: Vec<(D, Rational)> = monomials.map(|(c, k)| (to(*c), k.clone())).collect();
        mapped.sort_by_key(|m| m.0);
        let mut monomials: Vec<(D, Rational)> = Vec::with_capacity(mapped.len());
        for (column, coefficient) in mapped {
            match monomials.last_mut() {
                Some(last) if last.0 == column => last.1 = sum(&last.1, &coefficient),
                _ => monomials.push((column, coefficient)),
            }
        }
        monomials.retain(|m| !m.1.is_zero());
        Linear {
            monomials,
            constant: self.constant.clone(),
        }
    }

    /// The value of the polynomial for values of its columns; `None` if a column has no value.
    pub fn value(&self, mut of: impl FnMut(C) -> Option<Rational>) -> Option<Rational> {
        let mut value = self.constant.clone();
        for (column, coefficient) in &self.monomials {
            value = sum(&value, &product(coefficient, &of(*column)?));
        }
        Some(value)
    }

    /// The least common denominator of all coefficients and the constant.
    pub fn denominator(&self) -> BigInt {
        let mut result = self.constant.denom().clone();
        for (_, c) in &self.monomials {
            result = result.lcm(c.denom());
        }
        result
    }

    /// The positive factor that makes all coefficients, without the constant, coprime integers; one
    /// if there are no columns.
    pub fn integer_factor(&self) -> Rational {
        let mut lcm = BigInt::one();
        for (_, c) in &self.monomials {
            if !c.denom().is_one() {
                lcm = lcm.lcm(c.denom());
            }
        }
        let mut gcd = BigInt::zero();
        for (_, c) in &self.monomials {
            gcd = gcd.gcd(&(c.numer() * (&lcm / c.denom())));
            if gcd.is_one() {
                break;
            }
        }
        if gcd.is_zero() {
            Rational::one()
        } else {
            Rational::new(lcm, gcd)
        }
    }

    /// The positive multiple whose coefficients, without the constant, are coprime integers.
    pub fn coprime(&self) -> Self {
        let factor = self.integer_factor();
        if factor.is_one() {
            self.clone()
        } else {
            self.scaled(&factor)
        }
    }
}

impl TermStore {
    /// The linear normal form of a term of sort Int or Real, in time linear in its arguments, since
    /// sums are flat.
    pub fn linear(&self, term: TermId) -> Linear {
        let node = self.node(term);
        match &node.op {
            Op::Int(value) => Linear::constant(Rational::from_integer(value.clone())),
            Op::Real(value) => Linear::constant((**value).clone()),
            Op::Add => {
                let mut result = Linear::constant(Rational::zero());
                for &arg in &*node.args {
                    match self.numeral(arg) {
                        Some(value) => result.constant = sum(&result.constant, &value),
                        None => result.monomials.push(self.monomial(arg)),
                    }
                }
                result
            }
            _ => Linear {
                monomials: vec![self.monomial(term)],
                constant: Rational::zero(),
            },
        }
    }

    /// `left - right` in linear normal form.
    pub fn difference(&self, left: TermId, right: TermId) -> Linear {
        self.linear(left).minus(&self.linear(right))
    }

    fn monomial(&self, term: TermId) -> (TermId, Rational) {
        let node = self.node(term);
        if node.op == Op::Mul
            && let Some(coefficient) = self.numeral(node.args[0])
        {
            return (node.args[1], coefficient);
        }
        (term, Rational::one())
    }

    /// The value of an Int or Real numeral; `None` for another term.
    pub fn numeral(&self, term: TermId) -> Option<Rational> {
        match self.op(term) {
            Op::Int(value) => Some(Rational::from_integer(value.clone())),
            Op::Real(value) => Some((**value).clone()),
            _ => None,
        }
    }

    /// The term of a polynomial, of sort Int or Real. Panics for Int if a coefficient or the
    /// constant is not an integer.
    pub fn from_linear(&self, linear: &Linear, sort: SortId) -> TermId {
        let constant = || self.number(&linear.constant, sort);
        if linear.is_constant() {
            return constant();
        }
        let mut args: Vec<TermId> = Vec::with_capacity(linear.monomials.len() + 1);
        for (term, coefficient) in &linear.monomials {
            args.push(if coefficient.is_one() {
                *term
            } else {
                self.intern(Op::Mul, &[self.number(coefficient, sort), *term], sort)
            });
        }
        if !linear.constant.is_zero() {
            args.push(constant());
        }
        if args.len() == 1 {
            args[0]
        } else {
            self.intern(Op::Add, &args, sort)
        }
    }

    /// The numeral of sort Int or Real. Panics for Int if the value is not an integer.
    pub fn number(&self, value: &Rational, sort: SortId) -> TermId {
        if sort == SortId::INT {
            assert!(value.is_integer(), "an Int numeral is an integer");
            self.int(value.to_integer())
        } else {
            self.real(value.clone())
        }
    }

    /// The canonical atom `left ⋈ right`, see [`TermStore::linear_atom`].
    pub(super) fn arithmetic_atom(&self, op: Op, left: TermId, right: TermId) -> TermId {
        let sort = self.sort_of(left);
        self.linear_atom(op, &self.difference(left, right), sort)
    }

    /// The canonical atom `linear ⋈ 0` over Int or Real, where `op` is `Le`, `Ge` or `Eq`.
    ///
    /// Its coefficients are coprime integers and the first one is positive; positive monomials stand
    /// on the left, the others and the constant on the right. Bounds over Int are rounded; an
    /// equation over Int without integer solutions for this reason is `false`. If the only monomial
    /// is an `ite` with a numeral as a branch, the result is a formula over its condition.
    pub fn linear_atom(&self, op: Op, linear: &Linear, sort: SortId) -> TermId {
        let mut decided: Vec<(TermId, TermId, bool)> = Vec::new();
        let mut rest = Cow::Borrowed(linear);
        while let [(choice, coefficient)] = rest.monomials.as_slice()
            && let Op::Ite = self.op(*choice)
        {
            let [condition, then, other] = *self.args(*choice) else {
                break;
            };
            let (branch, value, on_then) = match (self.numeral(then), self.numeral(other)) {
                (Some(value), _) => (other, value, true),
                (None, Some(value)) => (then, value, false),
                (None, None) => break,
            };
            let value = sum(&product(&value, coefficient), &rest.constant);
            decided.push((condition, self.sign_atom(&op, &value), on_then));
            let mut next = self.linear(branch).scaled(coefficient);
            next.constant = sum(&next.constant, &rest.constant);
            rest = Cow::Owned(next);
        }
        let mut formula = self.canonical_atom(op, &rest, sort);
        for (condition, value, on_then) in decided.into_iter().rev() {
            formula = if on_then {
                self.ite(condition, value, formula)
            } else {
                self.ite(condition, formula, value)
            };
        }
        formula
    }

    /// `value ⋈ 0` as `true` or `false`.
    fn sign_atom(&self, op: &Op, value: &Rational) -> TermId {
        self.bool(match op {
            Op::Le => !value.is_positive(),
            Op::Ge => !value.is_negative(),
            _ => value.is_zero(),
        })
    }

    fn canonical_atom(&self, op: Op, linear: &Linear, sort: SortId) -> TermId {
        if linear.is_constant() {
            return self.sign_atom(&op, &linear.constant);
        }
        let mut factor = linear.integer_factor();
        let flip = linear.monomials[0].1.is_negative();
        if flip {
            factor = -factor;
        }
        let op = match op {
            Op::Le if flip => Op::Ge,
            Op::Ge if flip => Op::Le,
            op => op,
        };
        let scaled = if factor.is_one() {
            linear.clone()
        } else {
            linear.scaled(&factor)
        };
        // scaled.monomials ⋈ bound
        let mut bound = -scaled.constant;
        if sort == SortId::INT && !bound.is_integer() {
            match op {
                Op::Le => bound = bound.floor(),
                Op::Ge => bound = bound.ceil(),
                _ => return TermId::FALSE,
            }
        }
        let (positive, negative): (Vec<_>, Vec<_>) = scaled
            .monomials
            .into_iter()
            .partition(|m| m.1.is_positive());
        let left = Linear {
            monomials: positive,
            constant: Rational::zero(),
        };
        let right = Linear {
            monomials: negative.into_iter().map(|(t, c)| (t, -c)).collect(),
            constant: bound,
        };
        let (left, right) = (
            self.from_linear(&left, sort),
            self.from_linear(&right, sort),
        );
        self.intern(op, &[left, right], SortId::BOOL)
    }
}
