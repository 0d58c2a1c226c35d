//! Linear constraints as rows of integers, on which elimination works.
//!
//! Terms are made from the final rows only, since interning and evaluating every intermediate sum
//! would cost much more than the arithmetic.
//!
//! Invariant: every row is true in the model, its coefficients are coprime and not zero, and of
//! parallel bounds only the tightest is kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHasher};

use super::limits::LIMITS;
use super::state::State;
use alphorn_arith::{Constraint, Relation};
use alphorn_term::{Linear, Rational, SortId, TermId};

/// The relation of a row's sum to zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    /// It is zero.
    Equal,
    /// It is at most zero.
    AtMost,
    /// It is below zero.
    Below,
    /// It is not zero.
    Differs,
    /// The number divides it.
    Divides(BigInt),
}

/// `Σ coefficient · column + constant`.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    /// By ascending column.
    pub monomials: Vec<(u32, BigInt)>,
    pub constant: BigInt,
    /// The value in the model, times [`Rows::scale`].
    pub value: BigInt,
}

/// A sum and its relation to zero.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub sum: Sum,
    pub kind: Kind,
}

impl Sum {
    /// Adds a number to the constant and the value; only for Int, where the scale is one.
    pub fn shift(&mut self, by: &BigInt) {
        self.constant += by;
        self.value += by;
    }

    /// The coefficient of a column.
    pub fn coefficient(&self, column: u32) -> BigInt {
        match self.monomials.binary_search_by_key(&column, |m| m.0) {
            Ok(at) => self.monomials[at].1.clone(),
            Err(_) => BigInt::zero(),
        }
    }

    /// Multiplies by -1.
    pub fn negate(&mut self) {
        for (_, coefficient) in &mut self.monomials {
            *coefficient = -std::mem::take(coefficient);
        }
        self.constant = -std::mem::take(&mut self.constant);
        self.value = -std::mem::take(&mut self.value);
    }

    /// `f · self - g · pivot` without the column, for the least `f > 0`, and that `f`.
    pub fn cancel(&self, column: u32, pivot: &Sum) -> (Sum, BigInt) {
        let a = pivot.coefficient(column);
        let c = self.coefficient(column);
        let common = a.gcd(&c);
        let factor = a.abs() / &common;
        let other = -(c * a.signum()) / common;
        let mut monomials = Vec::with_capacity(self.monomials.len() + pivot.monomials.len());
        let (mut left, mut right) = (
            self.monomials.iter().peekable(),
            pivot.monomials.iter().peekable(),
        );
        loop {
            let (at, value) = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(l), Some(r)) if l.0 == r.0 => {
                    let sum = &l.1 * &factor + &r.1 * &other;
                    let at = l.0;
                    left.next();
                    right.next();
                    (at, sum)
                }
                (Some(l), r) if r.is_none_or(|r| l.0 < r.0) => {
                    let scaled = (l.0, &l.1 * &factor);
                    left.next();
                    scaled
                }
                (_, Some(r)) => {
                    let scaled = (r.0, &r.1 * &other);
                    right.next();
                    scaled
                }
                (Some(_), None) => unreachable!("the guard above covers it"),
            };
            if !value.is_zero() {
                monomials.push((at, value));
            }
        }
        let sum = Sum {
            monomials,
            constant: &self.constant * &factor + &pivot.constant * &other,
            value: &self.value * &factor + &pivot.value * &other,
        };
        (sum, factor)
    }
}

/// The rows of one sort.
pub(super) struct Rows {
    pub sort: SortId,
    columns: Vec<TermId>,
    column_of: FxHashMap<TermId, u32>,
    /// Values of columns, times `scale`.
    values: Vec<BigInt>,
    /// The common denominator of the model's values.
    pub scale: BigInt,
    open: Vec<bool>,
    rows: Vec<Option<Row>>,
    /// Rows by column, including removed ones.
    of_column: Vec<Vec<usize>>,
    degree: Vec<usize>,
    /// Rows by a hash of their monomials, including removed ones.
    index: FxHashMap<u64, Vec<usize>>,
    work: usize,
    /// Some row is not true.
    pub failed: bool,
}

impl Rows {
    /// Takes the literals of these variables out of the state. Each variable occurs in linear
    /// constraints only. `None` if a term has no value.
    pub fn load(state: &mut State, sort: SortId, vars: &[TermId]) -> Option<Rows> {
        let terms = state.terms;
        let mut constraints: Vec<Constraint> = Vec::new();
        for &var in vars {
            for literal in state.take(var) {
                let constraint = Constraint::congruence(terms, literal)
                    .or_else(|| Constraint::comparison(terms, literal))?;
                constraints.push(constraint);
            }
            state.retire(var);
        }
        let mut columns: Vec<TermId> = constraints
            .iter()
            .flat_map(|c| c.linear.monomials.iter().map(|m| m.0))
            .collect();
        columns.sort_unstable();
        columns.dedup();
        let mut numbers = Vec::with_capacity(columns.len());
        let mut scale = BigInt::one();
        for &column in &columns {
            let number = state.number(column)?;
            scale = scale.lcm(number.denom());
            numbers.push(number);
        }
        let values = numbers
            .iter()
            .map(|n| n.numer() * (&scale / n.denom()))
            .collect();
        let column_of: FxHashMap<TermId, u32> = columns
            .iter()
            .enumerate()
            .map(|(at, &c)| (c, at as u32))
            .collect();
        let mut open = vec![false; columns.len()];
        for var in vars {
            if let Some(&column) = column_of.get(var) {
                open[column as usize] = true;
            }
        }
        let mut rows = Rows {
            sort,
            of_column: vec![Vec::new(); columns.len()],
            degree: vec![0; columns.len()],
            columns,
            column_of,
            values,
            scale,
            open,
            rows: Vec::new(),
            index: FxHashMap::default(),
            work: 0,
            failed: false,
        };
        for Constraint { linear, relation } in constraints {
            let denominator = linear.denominator();
            let whole = |r: &Rational| r.numer() * (&denominator / r.denom());
            let monomials: Vec<(u32, BigInt)> = linear
                .monomials
                .iter()
                .map(|(atom, c)| (rows.column_of[atom], whole(c)))
                .collect();
            let constant = whole(&linear.constant);
            let value = rows.evaluate(&monomials, &constant);
            let sum = Sum {
                monomials,
                constant,
                value,
            };
            let kind = match relation {
                Relation::Equal => Kind::Equal,
                Relation::AtMost => Kind::AtMost,
                Relation::Below => Kind::Below,
                Relation::Differs => Kind::Differs,
                Relation::Integral => Kind::Divides(denominator),
            };
            rows.add(sum, kind);
        }
        Some(rows)
    }

    fn evaluate(&self, monomials: &[(u32, BigInt)], constant: &BigInt) -> BigInt {
        let mut value = constant * &self.scale;
        for (column, coefficient) in monomials {
            value += coefficient * &self.values[*column as usize];
        }
        value
    }

    /// Adds a true row in normal form.
    pub fn add(&mut self, mut sum: Sum, mut kind: Kind) {
        let integer = self.sort == SortId::INT;
        if kind == Kind::Below && integer {
            sum.shift(&BigInt::one());
            kind = Kind::AtMost;
        }
        if let Kind::Divides(modulus) = &kind {
            for (_, coefficient) in &mut sum.monomials {
                *coefficient = coefficient.mod_floor(modulus);
            }
            sum.monomials.retain(|m| !m.1.is_zero());
            sum.constant = sum.constant.mod_floor(modulus);
            sum.value = self.evaluate(&sum.monomials, &sum.constant);
        }
        let holds = match &kind {
            Kind::AtMost => !sum.value.is_positive(),
            Kind::Below => sum.value.is_negative(),
            Kind::Equal => sum.value.is_zero(),
            Kind::Differs => !sum.value.is_zero(),
            Kind::Divides(modulus) => sum.value.is_multiple_of(modulus),
        };
        if !holds {
            self.failed = true;
            return;
        }
        if sum.monomials.is_empty() {
            return;
        }
        let mut common = match &kind {
            Kind::Divides(modulus) => modulus.clone(),
            _ if integer => BigInt::zero(),
            _ => sum.constant.clone(),
        };
        let mut bits = 0;
        for (_, coefficient) in &sum.monomials {
            bits = bits.max(coefficient.bits());
            if !common.is_one() {
                common = common.gcd(coefficient);
            }
        }
        self.work += sum.monomials.len() * (2 + bits as usize / 64);
        if !common.is_one() {
            for (_, coefficient) in &mut sum.monomials {
                *coefficient /= &common;
            }
            // Only over Int can the factor not divide the constant, and the scale is one there.
            let rest = &sum.value - &sum.constant * &self.scale;
            sum.constant = match &kind {
                Kind::Differs if !sum.constant.is_multiple_of(&common) => return,
                Kind::AtMost => Integer::div_ceil(&sum.constant, &common),
                _ => &sum.constant / &common,
            };
            sum.value = rest / &common + &sum.constant * &self.scale;
            if let Kind::Divides(modulus) = &mut kind {
                *modulus /= &common;
                if modulus.is_one() {
                    return;
                }
            }
        }
        let symmetric = matches!(kind, Kind::Equal | Kind::Differs);
        if symmetric && sum.monomials[0].1.is_negative() {
            sum.negate();
        }
        self.insert(Row { sum, kind });
    }

    fn insert(&mut self, row: Row) {
        let mut hasher = FxHasher::default();
        row.sum.monomials.hash(&mut hasher);
        let hash = hasher.finish();
        let is_bound = |kind: &Kind| matches!(kind, Kind::AtMost | Kind::Below);
        let strict = |r: &Row| r.kind == Kind::Below;
        let entry = self.index.entry(hash).or_default();
        entry.retain(|&at| self.rows[at].is_some());
        for &at in entry.iter() {
            let Some(old) = &mut self.rows[at] else {
                continue;
            };
            if old.sum.monomials != row.sum.monomials {
                continue;
            }
            if is_bound(&old.kind) && is_bound(&row.kind) {
                let (new_key, old_key) = (
                    (&row.sum.constant, strict(&row)),
                    (&old.sum.constant, strict(old)),
                );
                if new_key > old_key {
                    *old = row;
                }
                return;
            }
            if old.kind == row.kind && old.sum.constant == row.sum.constant {
                return;
            }
        }
        let at = self.rows.len();
        entry.push(at);
        for &(column, _) in &row.sum.monomials {
            self.of_column[column as usize].push(at);
            self.degree[column as usize] += 1;
        }
        self.rows.push(Some(row));
    }

    fn live(&mut self, column: u32) -> Vec<usize> {
        let rows = &self.rows;
        let list = &mut self.of_column[column as usize];
        list.retain(|&r| rows[r].is_some());
        list.clone()
    }

    /// The live rows of a column.
    pub fn of(&mut self, column: u32) -> impl Iterator<Item = &Row> {
        self.live(column)
            .into_iter()
            .filter_map(|r| self.rows[r].as_ref())
    }

    /// Removes and returns the rows of a column, which is eliminated thereby.
    pub fn take(&mut self, column: u32) -> Vec<Row> {
        self.open[column as usize] = false;
        let mut taken = Vec::new();
        for at in std::mem::take(&mut self.of_column[column as usize]) {
            if let Some(row) = self.rows[at].take() {
                for &(other, _) in &row.sum.monomials {
                    self.degree[other as usize] -= 1;
                }
                taken.push(row);
            }
        }
        taken
    }

    /// The value of a column, times the scale.
    pub fn value(&self, column: u32) -> &BigInt {
        &self.values[column as usize]
    }

    /// Eliminates all open columns: first those for which `discard` succeeds, then, in the order of
    /// their degrees, by `eliminate`, or by their values beyond the work limit. Returns the number
    /// of columns that were replaced by values.
    pub fn run(
        &mut self,
        discard: impl Fn(&mut Rows, u32) -> bool,
        eliminate: impl Fn(&mut Rows, u32),
    ) -> usize {
        let mut candidates: Vec<u32> = (0..self.columns.len() as u32)
            .filter(|&c| self.open[c as usize])
            .collect();
        let mut heap: BinaryHeap<Reverse<(usize, u32)>> = candidates
            .iter()
            .map(|&c| Reverse((self.degree[c as usize], c)))
            .collect();
        // Dropping rows may remove the last bound of other columns.
        while let Some(column) = candidates.pop() {
            if !self.open[column as usize] {
                continue;
            }
            let mut others: Vec<u32> = Vec::new();
            for row in self.of(column) {
                others.extend(row.sum.monomials.iter().map(|m| m.0));
            }
            if discard(self, column) {
                others.retain(|&c| self.open[c as usize]);
                candidates.extend(others);
            }
        }
        let mut valued = 0;
        while let Some(Reverse((degree, column))) = heap.pop() {
            if self.failed {
                break;
            }
            if !self.open[column as usize] {
                continue;
            }
            let now = self.degree[column as usize];
            if now > degree {
                heap.push(Reverse((now, column)));
            } else if self.work > LIMITS.row_operations {
                valued += usize::from(now > 0);
                self.replace_by_value(column);
            } else if !discard(self, column) {
                eliminate(self, column);
            }
        }
        valued
    }

    /// Replaces the column by its value.
    pub fn replace_by_value(&mut self, column: u32) {
        let value = self.values[column as usize].clone();
        let common = value.gcd(&self.scale);
        // scale · x = value
        let (a, b) = (&self.scale / &common, value / common);
        let equation = Sum {
            monomials: vec![(column, a)],
            constant: -b,
            value: BigInt::zero(),
        };
        for row in self.take(column) {
            self.substitute(&row, column, &equation);
        }
    }

    /// Adds the row with the column substituted by the equation, a sum that is zero.
    pub fn substitute(&mut self, row: &Row, column: u32, equation: &Sum) {
        let (sum, factor) = row.sum.cancel(column, equation);
        let kind = match &row.kind {
            Kind::Divides(modulus) => Kind::Divides(modulus * factor),
            kind => kind.clone(),
        };
        self.add(sum, kind);
    }

    /// Returns the rows to the state as literals.
    pub fn unload(self, state: &mut State) {
        state.failed |= self.failed;
        for row in self.rows.into_iter().flatten() {
            let linear = Linear {
                monomials: row
                    .sum
                    .monomials
                    .into_iter()
                    .map(|(c, k)| (self.columns[c as usize], Rational::from_integer(k)))
                    .collect(),
                constant: Rational::from_integer(row.sum.constant),
            };
            let constraint = match row.kind {
                Kind::Equal => Constraint::new(linear, Relation::Equal),
                Kind::AtMost => Constraint::new(linear, Relation::AtMost),
                Kind::Below => Constraint::new(linear, Relation::Below),
                Kind::Differs => Constraint::new(linear, Relation::Differs),
                Kind::Divides(modulus) => {
                    let quotient = linear.scaled(&Rational::new(BigInt::one(), modulus));
                    Constraint::new(quotient, Relation::Integral)
                }
            };
            state.add(constraint.formula(state.terms));
        }
    }
}
