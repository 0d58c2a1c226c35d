//! An exact simplex with Farkas certificates and optimisation.
//!
//! After Dutertre, de Moura, "A fast linear-arithmetic solver for DPLL(T)" (CAV 2006): each linear
//! form is a variable with bounds, strict bounds have an infinitesimal part, pivoting follows
//! Bland's rule. Deviations:
//!
//! - forms are scaled so that multiples of one form share a variable;
//! - `Simplex::maximise` adds the primal simplex with bounds.
//!
//! Invariant: a basic variable is the sum of its row over nonbasic variables, and the values satisfy
//! the rows. As long as there is no conflict, nonbasic variables are within their bounds.

use std::cell::Cell;
use std::cmp::Ordering;

use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;

use super::constraint::{Constraint, Relation};
use alphorn_term::Rational;
use alphorn_term::rational::{difference, product, sum};

/// Columns with their coefficients, in ascending order of columns, no coefficient zero.
pub(crate) type SparseRow = Vec<(usize, Rational)>;

/// Farkas multipliers: the numbers of constraints, ascending, with their factors, which are positive
/// except for equations.
pub type Multipliers = Vec<(usize, Rational)>;

/// The supremum of a linear form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Optimum {
    /// There is no upper bound.
    Unbounded,
    /// There is a least upper bound.
    Bounded {
        /// The least upper bound.
        value: Rational,
        /// Whether some point reaches it.
        attained: bool,
        /// The constraints times these factors add up to `form - value`.
        multipliers: Multipliers,
    },
}

/// `real + infinitesimal * ε` for every small enough ε > 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Value {
    real: Rational,
    infinitesimal: Rational,
}

impl Value {
    fn zero() -> Value {
        Value {
            real: Rational::zero(),
            infinitesimal: Rational::zero(),
        }
    }

    fn is_zero(&self) -> bool {
        self.real.is_zero() && self.infinitesimal.is_zero()
    }

    fn add_scaled(&mut self, other: &Value, factor: &Rational) {
        self.real = sum(&self.real, &product(&other.real, factor));
        if !other.infinitesimal.is_zero() {
            let added = product(&other.infinitesimal, factor);
            self.infinitesimal = sum(&self.infinitesimal, &added);
        }
    }

    fn minus(&self, other: &Value) -> Value {
        Value {
            real: difference(&self.real, &other.real),
            infinitesimal: difference(&self.infinitesimal, &other.infinitesimal),
        }
    }

    fn scaled(&self, factor: &Rational) -> Value {
        Value {
            real: product(&self.real, factor),
            infinitesimal: product(&self.infinitesimal, factor),
        }
    }
}

/// A bound of a variable; the constraint times `factor` is its inequality.
#[derive(Clone, Debug)]
struct Bound {
    value: Value,
    constraint: usize,
    factor: Rational,
}

/// A bound that was replaced by one of a later constraint.
#[derive(Clone, Debug)]
struct Replaced {
    variable: usize,
    upper: bool,
    before: Option<Bound>,
    constraint: usize,
}

#[derive(Clone, Debug, Default)]
struct Variable {
    lower: Option<Bound>,
    upper: Option<Bound>,
    /// The row that defines it while it is basic.
    row: Option<usize>,
}

#[derive(Clone, Debug)]
struct Row {
    basic: usize,
    sum: SparseRow,
}

/// Linear constraints over columns `0..n`, all real.
#[derive(Clone, Debug)]
pub struct Simplex {
    columns: usize,
    variables: Vec<Variable>,
    values: Vec<Value>,
    rows: Vec<Row>,
    /// Linear forms with leading coefficient one to their variables.
    forms: FxHashMap<SparseRow, usize>,
    constraints: usize,
    /// The bounds that were replaced, in this order.
    replaced: Vec<Replaced>,
    /// Entries of rows that were changed, each counted once per 64 bits of its factor.
    work: Cell<u64>,
    /// A refutation of the constraints, if one was found.
    conflict: Option<Multipliers>,
}

impl Simplex {
    /// No constraints on `columns` columns.
    pub fn new(columns: usize) -> Simplex {
        Simplex {
            columns,
            variables: vec![Variable::default(); columns],
            values: vec![Value::zero(); columns],
            rows: Vec::new(),
            forms: FxHashMap::default(),
            constraints: 0,
            replaced: Vec::new(),
            work: Cell::new(0),
            conflict: None,
        }
    }

    /// Adds a constraint and returns its number; numbers count from zero. Disequalities and
    /// congruences are numbered but ignored.
    pub fn add(&mut self, added: &Constraint<usize>) -> usize {
        let number = self.constraints;
        self.constraints += 1;
        let (form, constant) = (&added.linear.monomials, &added.linear.constant);
        let to = added.relation;
        if matches!(to, Relation::Differs | Relation::Integral) {
            return number;
        }
        let Some((_, lead)) = form.first() else {
            if !to.holds(constant) && self.conflict.is_none() {
                let sign = if constant.is_negative() {
                    -Rational::one()
                } else {
                    Rational::one()
                };
                self.conflict = Some(vec![(number, sign)]);
            }
            return number;
        };
        let unit = lead.recip();
        let scaled: SparseRow = form.iter().map(|(c, a)| (*c, product(a, &unit))).collect();
        let variable = self.variable(scaled);
        let real = -product(constant, &unit);
        let strict = Rational::from_integer(i64::from(to == Relation::Below).into());
        if to == Relation::Equal || unit.is_positive() {
            let value = Value {
                real: real.clone(),
                infinitesimal: -strict.clone(),
            };
            self.bound(variable, true, value, number, unit.clone());
        }
        if to == Relation::Equal || unit.is_negative() {
            let value = Value {
                real,
                infinitesimal: strict,
            };
            self.bound(variable, false, value, number, -unit);
        }
        number
    }

    /// Removes all constraints but the first `kept`. Rows and values stay, so that the next check
    /// starts from the last solution.
    pub fn retract(&mut self, kept: usize) {
        self.constraints = self.constraints.min(kept);
        while let Some(last) = self.replaced.pop_if(|r| r.constraint >= kept) {
            let variable = &mut self.variables[last.variable];
            match last.upper {
                true => variable.upper = last.before,
                false => variable.lower = last.before,
            }
        }
        let is_gone = |m: &(usize, Rational)| m.0 >= kept;
        if self
            .conflict
            .as_ref()
            .is_some_and(|c| c.iter().any(is_gone))
        {
            self.conflict = None;
        }
    }

    /// The number of changed entries of rows so far, each counted once per 64 bits of its factor.
    pub fn work(&self) -> u64 {
        self.work.get()
    }

    /// Counts `entries` multiplications by `factor`.
    fn count(&self, entries: usize, factor: &Rational) {
        let bits = factor.numer().bits() + factor.denom().bits();
        let work = entries as u64 * (1 + bits / 64);
        self.work.set(self.work.get() + work);
    }

    /// The variable of a form with leading coefficient one.
    fn variable(&mut self, form: SparseRow) -> usize {
        if form.len() == 1 {
            return form[0].0;
        }
        if let Some(&variable) = self.forms.get(&form) {
            return variable;
        }
        let variable = self.variables.len();
        let mut value = Value::zero();
        for (column, coefficient) in &form {
            value.add_scaled(&self.values[*column], coefficient);
        }
        let sum = self.over_nonbasic(&form);
        self.variables.push(Variable {
            row: Some(self.rows.len()),
            ..Variable::default()
        });
        self.values.push(value);
        self.rows.push(Row {
            basic: variable,
            sum,
        });
        self.forms.insert(form, variable);
        variable
    }

    fn over_nonbasic(&self, form: &[(usize, Rational)]) -> SparseRow {
        let mut sum = SparseRow::new();
        for (column, coefficient) in form {
            match self.variables[*column].row {
                Some(row) => {
                    let row = &self.rows[row].sum;
                    self.count(row.len() + sum.len(), coefficient);
                    add_scaled(&mut sum, row, coefficient);
                }
                None => add_scaled(&mut sum, &[(*column, Rational::one())], coefficient),
            }
        }
        sum
    }

    fn bound(&mut self, at: usize, upper: bool, value: Value, constraint: usize, factor: Rational) {
        let variable = &mut self.variables[at];
        let (own, other) = if upper {
            (&mut variable.upper, &variable.lower)
        } else {
            (&mut variable.lower, &variable.upper)
        };
        let tighter = own.as_ref().is_none_or(|b| {
            let (less, greater) = if upper {
                (&value, &b.value)
            } else {
                (&b.value, &value)
            };
            less < greater
        });
        if !tighter {
            return;
        }
        let bound = Bound {
            value,
            constraint,
            factor,
        };
        let crossing = other.as_ref().filter(|b| {
            if upper {
                b.value > bound.value
            } else {
                b.value < bound.value
            }
        });
        if let Some(other) = crossing
            && self.conflict.is_none()
        {
            let mut sum = Multipliers::new();
            let one = Rational::one();
            add_scaled(&mut sum, &[(constraint, bound.factor.clone())], &one);
            add_scaled(&mut sum, &[(other.constraint, other.factor.clone())], &one);
            self.conflict = Some(sum);
        }
        let value = bound.value.clone();
        self.replaced.push(Replaced {
            variable: at,
            upper,
            before: own.replace(bound),
            constraint,
        });
        let outside = if upper {
            self.values[at] > value
        } else {
            self.values[at] < value
        };
        if self.variables[at].row.is_none() && outside && self.conflict.is_none() {
            self.shift(at, &value.minus(&self.values[at]));
        }
    }

    /// Changes the value of a nonbasic variable and of the basic variables that depend on it.
    fn shift(&mut self, variable: usize, by: &Value) {
        if by.is_zero() {
            return;
        }
        self.count(self.rows.len(), &by.real);
        for row in &self.rows {
            if let Some(coefficient) = entry_of(&row.sum, variable) {
                self.values[row.basic].add_scaled(by, coefficient);
            }
        }
        self.values[variable].add_scaled(by, &Rational::one());
    }

    /// Makes `entering` basic in place of the basic variable of `row`.
    fn pivot(&mut self, row: usize, entering: usize) {
        let leaving = self.rows[row].basic;
        let mut sum = std::mem::take(&mut self.rows[row].sum);
        let at = sum.binary_search_by_key(&entering, |e| e.0);
        let (_, pivot) = sum.remove(at.expect("the row has the entering variable"));
        let unit = -pivot.recip();
        sum.iter_mut().for_each(|e| e.1 *= &unit);
        add_scaled(&mut sum, &[(leaving, -unit)], &Rational::one());
        let mut changed = 0;
        for other in &mut self.rows {
            if let Ok(at) = other.sum.binary_search_by_key(&entering, |e| e.0) {
                let (_, factor) = other.sum.remove(at);
                changed += other.sum.len() + sum.len();
                add_scaled(&mut other.sum, &sum, &factor);
            }
        }
        self.count(changed, &pivot);
        self.rows[row] = Row {
            basic: entering,
            sum,
        };
        self.variables[leaving].row = None;
        self.variables[entering].row = Some(row);
    }

    /// Whether some point satisfies all constraints.
    ///
    /// # Errors
    /// Multipliers with which the constraints add up to `0 < 0` or `c <= 0` for a positive `c`.
    pub fn check(&mut self) -> Result<(), Multipliers> {
        while self.conflict.is_none() {
            let outside = |r: &usize| {
                let at = self.rows[*r].basic;
                self.violation(at) != Ordering::Equal
            };
            let row = (0..self.rows.len()).filter(outside);
            let Some(row) = row.min_by_key(|&r| self.rows[r].basic) else {
                return Ok(());
            };
            let basic = self.rows[row].basic;
            let too_small = self.violation(basic) == Ordering::Less;
            let helps = |(at, coefficient): &&(usize, Rational)| {
                let up = coefficient.is_positive() == too_small;
                self.can_move(*at, up)
            };
            let entering = self.rows[row].sum.iter().find(helps).cloned();
            let Some((entering, coefficient)) = entering else {
                self.conflict = Some(self.explain(row, too_small));
                break;
            };
            let variable = &self.variables[basic];
            let bound = if too_small {
                &variable.lower
            } else {
                &variable.upper
            };
            let target = &bound.as_ref().expect("it is violated").value;
            let by = target
                .minus(&self.values[basic])
                .scaled(&coefficient.recip());
            self.shift(entering, &by);
            self.pivot(row, entering);
        }
        match &self.conflict {
            Some(multipliers) => Err(multipliers.clone()),
            None => Ok(()),
        }
    }

    /// `Less` if the variable is below its lower bound, `Greater` if it is above its upper bound.
    fn violation(&self, at: usize) -> Ordering {
        let (variable, value) = (&self.variables[at], &self.values[at]);
        if variable.lower.as_ref().is_some_and(|b| *value < b.value) {
            Ordering::Less
        } else if variable.upper.as_ref().is_some_and(|b| *value > b.value) {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    }

    fn can_move(&self, at: usize, up: bool) -> bool {
        let (variable, value) = (&self.variables[at], &self.values[at]);
        if up {
            variable.upper.as_ref().is_none_or(|b| *value < b.value)
        } else {
            variable.lower.as_ref().is_none_or(|b| *value > b.value)
        }
    }

    fn explain(&self, row: usize, too_small: bool) -> Multipliers {
        let mut sum = Multipliers::new();
        let variable = &self.variables[self.rows[row].basic];
        let bound = if too_small {
            &variable.lower
        } else {
            &variable.upper
        };
        let bound = bound.as_ref().expect("it is violated");
        let one = Rational::one();
        add_scaled(&mut sum, &[(bound.constraint, bound.factor.clone())], &one);
        for (at, coefficient) in &self.rows[row].sum {
            self.add_bound(
                &mut sum,
                *at,
                coefficient.is_positive() == too_small,
                coefficient,
            );
        }
        sum
    }

    /// Adds the inequality of a variable's bound times the coefficient's absolute value.
    fn add_bound(&self, sum: &mut Multipliers, at: usize, upper: bool, coefficient: &Rational) {
        let variable = &self.variables[at];
        let bound = if upper {
            &variable.upper
        } else {
            &variable.lower
        };
        let bound = bound.as_ref().expect("the variable cannot move");
        let entry = [(bound.constraint, bound.factor.clone())];
        add_scaled(sum, &entry, &coefficient.abs());
    }

    /// The supremum of `form` over the points that satisfy all constraints.
    ///
    /// # Errors
    /// No point satisfies the constraints; multipliers as in [`Simplex::check`].
    pub(crate) fn maximise(&mut self, form: &[(usize, Rational)]) -> Result<Optimum, Multipliers> {
        self.check()?;
        loop {
            let objective = self.over_nonbasic(form);
            let helps = |(at, coefficient): &&(usize, Rational)| {
                self.can_move(*at, coefficient.is_positive())
            };
            let Some((entering, coefficient)) = objective.iter().find(helps) else {
                let mut value = Value::zero();
                for (at, coefficient) in &objective {
                    value.add_scaled(&self.values[*at], coefficient);
                }
                let mut multipliers = Multipliers::new();
                for (at, coefficient) in &objective {
                    self.add_bound(
                        &mut multipliers,
                        *at,
                        coefficient.is_positive(),
                        coefficient,
                    );
                }
                return Ok(Optimum::Bounded {
                    value: value.real,
                    attained: value.infinitesimal.is_zero(),
                    multipliers,
                });
            };
            let (entering, up) = (*entering, coefficient.is_positive());
            let variable = &self.variables[entering];
            let own = if up { &variable.upper } else { &variable.lower };
            // The largest step of the variable, and the row whose basic variable limits it.
            let mut least: Option<(Value, Option<usize>)> = own.as_ref().map(|b| {
                let distance = b.value.minus(&self.values[entering]);
                (absolute(distance, up), None)
            });
            for (number, row) in self.rows.iter().enumerate() {
                let Some(coefficient) = entry_of(&row.sum, entering) else {
                    continue;
                };
                let variable = &self.variables[row.basic];
                let rises = coefficient.is_positive() == up;
                let bound = if rises {
                    &variable.upper
                } else {
                    &variable.lower
                };
                let Some(bound) = bound else { continue };
                let distance = bound.value.minus(&self.values[row.basic]);
                let distance = absolute(distance, rises).scaled(&coefficient.abs().recip());
                let closer = match &least {
                    None => true,
                    Some((best, blocking)) => match distance.cmp(best) {
                        Ordering::Less => true,
                        Ordering::Equal => blocking.is_some_and(|b| self.rows[b].basic > row.basic),
                        Ordering::Greater => false,
                    },
                };
                if closer {
                    least = Some((distance, Some(number)));
                }
            }
            let Some((distance, blocking)) = least else {
                return Ok(Optimum::Unbounded);
            };
            let by = absolute(distance, up);
            self.shift(entering, &by);
            if let Some(row) = blocking {
                self.pivot(row, entering);
            }
        }
    }

    /// A point that satisfies all constraints, if the last [`Simplex::check`] found that there is
    /// one.
    pub fn point(&self) -> Vec<Rational> {
        // Small enough that each bound that holds with infinitesimals also holds with this value.
        let mut epsilon = Rational::one();
        let mut keep = |less: &Value, greater: &Value| {
            let room = &greater.real - &less.real;
            let loss = &less.infinitesimal - &greater.infinitesimal;
            if room.is_positive() && loss.is_positive() {
                let most = room / loss;
                if most < epsilon {
                    epsilon = most;
                }
            }
        };
        for (variable, value) in self.variables.iter().zip(&self.values) {
            if let Some(bound) = &variable.lower {
                keep(&bound.value, value);
            }
            if let Some(bound) = &variable.upper {
                keep(value, &bound.value);
            }
        }
        let values = self.values[..self.columns].iter();
        values
            .map(|v| &v.real + &v.infinitesimal * &epsilon)
            .collect()
    }
}

fn absolute(value: Value, positive: bool) -> Value {
    if positive {
        value
    } else {
        value.scaled(&-Rational::one())
    }
}

fn entry_of(row: &SparseRow, column: usize) -> Option<&Rational> {
    let at = row.binary_search_by_key(&column, |e| e.0).ok()?;
    Some(&row[at].1)
}

/// `row += factor * other`.
fn add_scaled(row: &mut SparseRow, other: &[(usize, Rational)], factor: &Rational) {
    if factor.is_zero() || other.is_empty() {
        return;
    }
    let mut out = SparseRow::with_capacity(row.len() + other.len());
    let mut left = std::mem::take(row).into_iter().peekable();
    for (column, coefficient) in other {
        while let Some(entry) = left.next_if(|e| e.0 < *column) {
            out.push(entry);
        }
        let mut entry = product(coefficient, factor);
        if let Some(own) = left.next_if(|e| e.0 == *column) {
            entry = sum(&own.1, &entry);
        }
        if !entry.is_zero() {
            out.push((*column, entry));
        }
    }
    out.extend(left);
    *row = out;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use alphorn_term::Linear;

    type Raw = (Vec<i64>, i64, Relation);

    const WIDTH: usize = 4;

    fn number(value: i64) -> Rational {
        Rational::from_integer(value.into())
    }

    fn sparse(form: &[i64]) -> SparseRow {
        let entries = form.iter().enumerate().filter(|e| *e.1 != 0);
        entries.map(|(c, &a)| (c, number(a))).collect()
    }

    fn linear(form: &[i64], constant: i64, relation: Relation) -> Constraint<usize> {
        let (monomials, constant) = (sparse(form), number(constant));
        let linear = Linear {
            monomials,
            constant,
        };
        Constraint::new(linear, relation)
    }

    fn build(constraints: &[Raw]) -> Simplex {
        let mut simplex = Simplex::new(WIDTH);
        for (at, (form, constant, to)) in constraints.iter().enumerate() {
            assert_eq!(simplex.add(&linear(form, *constant, *to)), at);
        }
        simplex
    }

    fn at(form: &[i64], point: &[Rational]) -> Rational {
        let terms = form.iter().zip(point);
        terms.map(|(&a, x)| number(a) * x).sum()
    }

    fn holds((form, constant, to): &Raw, point: &[Rational]) -> bool {
        to.holds(&(at(form, point) + number(*constant)))
    }

    /// The sum of constraints times multipliers, and whether a strict one is among them.
    fn add_up(constraints: &[Raw], multipliers: &Multipliers) -> (Vec<Rational>, Rational, bool) {
        let mut form = vec![Rational::zero(); WIDTH];
        let (mut sum, mut strict) = (Rational::zero(), false);
        for (number_of, factor) in multipliers {
            let (row, constant, to) = &constraints[*number_of];
            assert!(
                *to == Relation::Equal || factor.is_positive(),
                "{multipliers:?}"
            );
            strict |= *to == Relation::Below;
            for (total, &a) in form.iter_mut().zip(row) {
                *total += number(a) * factor;
            }
            sum += number(*constant) * factor;
        }
        (form, sum, strict)
    }

    fn constraint() -> impl Strategy<Value = Raw> {
        let relation = prop_oneof![
            1 => Just(Relation::Equal),
            3 => Just(Relation::AtMost),
            1 => Just(Relation::Below)
        ];
        let coefficient = prop_oneof![2 => Just(0), 3 => -3..4_i64];
        (
            prop::collection::vec(coefficient, WIDTH),
            -6..7_i64,
            relation,
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn points_satisfy_and_certificates_refute(
            constraints in prop::collection::vec(constraint(), 0..9)
        ) {
            let mut simplex = build(&constraints);
            match simplex.check() {
                Ok(()) => {
                    let point = simplex.point();
                    for constraint in &constraints {
                        prop_assert!(holds(constraint, &point), "{constraint:?} at {point:?}");
                    }
                }
                Err(multipliers) => {
                    let (form, sum, strict) = add_up(&constraints, &multipliers);
                    prop_assert!(form.iter().all(Zero::is_zero));
                    prop_assert!(sum.is_positive() || strict && sum.is_zero());
                }
            }
        }

        #[test]
        fn constraints_are_taken_back(
            constraints in prop::collection::vec(constraint(), 1..12),
            kept in 0..12_usize,
            others in prop::collection::vec(constraint(), 0..6),
        ) {
            let kept = kept.min(constraints.len());
            let mut simplex = build(&constraints);
            let _ = simplex.check();
            simplex.retract(kept);
            let mut left = constraints[..kept].to_vec();
            for (form, constant, to) in others {
                let number = simplex.add(&linear(&form, constant, to));
                prop_assert_eq!(number, left.len());
                left.push((form, constant, to));
            }
            let answer = simplex.check();
            prop_assert_eq!(answer.is_ok(), build(&left).check().is_ok());
            match answer {
                Ok(()) => {
                    let point = simplex.point();
                    prop_assert!(left.iter().all(|c| holds(c, &point)));
                }
                Err(multipliers) => {
                    let (form, sum, strict) = add_up(&left, &multipliers);
                    prop_assert!(form.iter().all(Zero::is_zero));
                    prop_assert!(sum.is_positive() || strict && sum.is_zero());
                }
            }
        }

        #[test]
        fn optima_are_bounded_by_certificates_and_reached(
            constraints in prop::collection::vec(constraint(), 0..9),
            objective in prop::collection::vec(-3..4_i64, WIDTH),
        ) {
            let mut simplex = build(&constraints);
            let feasible = simplex.clone().check().is_ok();
            let optimum = simplex.maximise(&sparse(&objective));
            prop_assert_eq!(feasible, optimum.is_ok());
            match optimum {
                Err(_) => {}
                Ok(Optimum::Bounded { value, attained, multipliers }) => {
                    let (form, sum, strict) = add_up(&constraints, &multipliers);
                    let wanted: Vec<Rational> = objective.iter().map(|&a| number(a)).collect();
                    prop_assert_eq!(form, wanted);
                    prop_assert_eq!(-sum, value.clone());
                    prop_assert_eq!(attained, !strict);
                    let point = simplex.point();
                    for constraint in &constraints {
                        prop_assert!(holds(constraint, &point));
                    }
                    prop_assert!(!attained || at(&objective, &point) == value);
                    // Points come arbitrarily close to it.
                    let mut near = linear(&objective, 0, Relation::AtMost);
                    near.linear = near.linear.negated();
                    near.linear.constant = &value - Rational::new(1.into(), 1000.into());
                    simplex.add(&near);
                    prop_assert!(simplex.check().is_ok());
                }
                Ok(Optimum::Unbounded) => {
                    // A distant point is still allowed.
                    let mut far: Vec<i64> = objective.iter().map(|a| -a).collect();
                    far.resize(WIDTH, 0);
                    simplex.add(&linear(&far, 1_000_000, Relation::AtMost));
                    prop_assert!(simplex.check().is_ok());
                }
            }
        }
    }

    #[test]
    fn later_constraints_move_the_point() {
        let mut simplex = Simplex::new(2);
        simplex.add(&linear(&[1, 1], -10, Relation::AtMost));
        assert!(simplex.check().is_ok());
        simplex.add(&linear(&[1], -7, Relation::Equal));
        assert_eq!(
            simplex.maximise(&sparse(&[0, 1])),
            Ok(Optimum::Bounded {
                value: number(3),
                attained: true,
                multipliers: vec![(0, number(1)), (1, number(-1))],
            })
        );
        simplex.add(&linear(&[0, -1], 3, Relation::Below));
        let one = number(1);
        let certificate = vec![(0, one.clone()), (1, -one.clone()), (2, one)];
        assert_eq!(simplex.check(), Err(certificate));
    }
}
