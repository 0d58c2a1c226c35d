//! Convex polyhedra by their constraints, exact while they are small.
//!
//! Only constraints are stored. Equations and Fourier-Motzkin steps eliminate variables, the exact
//! simplex decides implication, and a join converts to generators and back. If one of these grows
//! too large, a weaker result is taken: constraints with an eliminated variable are dropped, and a
//! join keeps the directions of both sides, each with its greatest bound.
//!
//! A single operation may take long, since numbers grow. When the budget is spent, operations end
//! early: the result is above the exact one, and may be all assignments.
//!
//! Invariant: strict bounds over reals are weakened to closed ones, coefficients of bounds are
//! coprime integers, and an element has a rational point.

use std::rc::Rc;
use std::time::Duration;

use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cone::{Cone, Vector, dual, shorten};
use super::cube::{Cube, Fact};
use super::nonempty::NonemptyDomain;
use alphorn_arith::{ColumnBounds, Constraint, Relation, Solved, TermSimplex, is_over_int};
use alphorn_term::run::Budget;
use alphorn_term::{BigInt, Linear, Rational, TermId, TermStore};

/// Limits of polyhedra.
struct Limits {
    /// Bounds that any element may have.
    base_rows: usize,
    /// Further bounds for each variable of the element; the simplest ones are kept.
    rows_per_variable: usize,
}

const LIMITS: Limits = Limits {
    base_rows: 6,
    rows_per_variable: 3,
};

/// Work charged for the sum of two bounds, and for the comparison of two generators.
const SUM_WORK: Duration = Duration::from_nanos(1500);

/// Convex polyhedra (Cousot and Halbwachs, POPL 1978).
pub struct Polyhedra {
    terms: Rc<TermStore>,
    /// Variables of an element, at most, and variables for which joins are exact, at most.
    width: usize,
    exact: usize,
    /// The approximate number of bounds in intermediate results.
    rows: usize,
    budget: Option<Budget>,
}

/// `row = 0` for the equations, `row <= 0` for the bounds.
#[derive(Clone, Debug, Default)]
pub struct Polyhedron {
    equations: Vec<Linear>,
    bounds: Vec<Linear>,
}

impl Polyhedron {
    /// Equations and bounds as bounds.
    fn inequalities(&self) -> Vec<Linear> {
        let equations = self.equations.iter();
        let both = equations.flat_map(|e| [e.clone(), e.negated()]);
        both.chain(self.bounds.iter().cloned()).collect()
    }

    fn vars(&self) -> FxHashSet<TermId> {
        let rows = self.equations.iter().chain(&self.bounds);
        rows.flat_map(|r| r.monomials.iter().map(|m| m.0)).collect()
    }
}

impl Polyhedra {
    /// The domain over a store: at most `width` variables at a time, exact joins for at most
    /// `exact`.
    pub fn new(terms: Rc<TermStore>, width: usize, exact: usize) -> Self {
        Polyhedra {
            terms,
            width,
            exact,
            rows: 4 * exact + 10,
            budget: None,
        }
    }

    /// Sets a budget; when it is spent, operations are as fast and as weak as possible.
    pub fn within(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Charges for sums of pairs; returns whether the budget is spent.
    fn charge(&self, pairs: usize) -> bool {
        self.terms.charge(SUM_WORK * pairs as u32);
        self.late()
    }

    fn late(&self) -> bool {
        self.budget.as_ref().is_some_and(Budget::is_spent)
    }

    /// The rational points of equations and bounds.
    fn points<'a, E, B>(&self, equations: E, bounds: B) -> TermSimplex<'_>
    where
        E: IntoIterator<Item = &'a Linear, IntoIter: Clone>,
        B: IntoIterator<Item = &'a Linear, IntoIter: Clone>,
    {
        let equations = equations.into_iter().map(|e| (e, Relation::Equal));
        let bounds = bounds.into_iter().map(|b| (b, Relation::AtMost));
        TermSimplex::new(&self.terms, equations.chain(bounds))
    }

    /// `row <= 0` with coprime coefficients.
    fn normal(&self, row: &Linear, round: bool) -> Linear {
        let mut row = row.coprime();
        if round && is_over_int(&self.terms, &row) {
            row.constant = row.constant.ceil();
        }
        row
    }

    /// Whether an equation has no integer solution because of its coefficients.
    fn unsolvable(&self, row: &Linear) -> bool {
        let constant = &row.constant * row.integer_factor();
        is_over_int(&self.terms, row) && !constant.is_integer()
    }

    /// Normalized rows, the tightest for each direction; `None` if one is false.
    fn tidy(&self, rows: impl IntoIterator<Item = Linear>, round: bool) -> Option<Vec<Linear>> {
        let mut best: FxHashMap<Vec<(TermId, Rational)>, usize> = FxHashMap::default();
        let mut result: Vec<Linear> = Vec::new();
        for row in rows {
            let row = self.normal(&row, round);
            if row.is_constant() {
                if row.constant.is_positive() {
                    return None;
                }
                continue;
            }
            match best.get(&row.monomials) {
                Some(&at) => {
                    if row.constant > result[at].constant {
                        result[at].constant = row.constant;
                    }
                }
                None => {
                    best.insert(row.monomials.clone(), result.len());
                    result.push(row);
                }
            }
        }
        Some(result)
    }

    /// Removes bounds that the others and the equations imply.
    fn irredundant(&self, equations: &[Linear], bounds: &mut Vec<Linear>) {
        let mut at = bounds.len();
        while at > 0 && !self.late() {
            at -= 1;
            let others = bounds.iter().enumerate().filter(|(i, _)| *i != at);
            let mut oracle = self.points(equations, others.map(|o| o.1));
            if oracle.is_at_most_zero(&bounds[at]) {
                bounds.remove(at);
            }
        }
    }

    /// Fourier-Motzkin steps for all variables that are not kept.
    fn eliminate(
        &self,
        mut bounds: Vec<Linear>,
        keep: impl Fn(TermId) -> bool,
        round: bool,
    ) -> Option<Vec<Linear>> {
        loop {
            // Occurrences with either sign of each variable to eliminate.
            let mut counts: FxHashMap<TermId, (usize, usize)> = FxHashMap::default();
            for (var, coefficient) in bounds.iter().flat_map(|b| &b.monomials) {
                if !keep(*var) {
                    let count = counts.entry(*var).or_default();
                    if coefficient.is_positive() {
                        count.0 += 1;
                    } else {
                        count.1 += 1;
                    }
                }
            }
            let cost = |(v, (up, down)): (&TermId, &(usize, usize))| (up * down, *v);
            let Some((pairs, var)) = counts.iter().map(cost).min() else {
                return Some(bounds);
            };
            let bound = |linear| Constraint::new(linear, Relation::AtMost);
            let split = ColumnBounds::of(bounds.into_iter().map(bound).collect(), var);
            let rest = if pairs <= 2 * self.rows && !self.late() {
                self.terms.charge(SUM_WORK * pairs as u32);
                split.combined(var)
            } else {
                split.rest
            };
            bounds = self.tidy(rest.into_iter().map(|b| b.linear), round)?;
            if bounds.len() > self.rows {
                self.irredundant(&[], &mut bounds);
                // Rows with few variables are preferred.
                bounds.sort_by_key(|b| b.monomials.len());
                bounds.truncate(2 * self.rows);
            }
        }
    }

    /// The polyhedron of these rows over the kept variables; `None` if it is empty. With `round`,
    /// only integer points are kept; a join must not round, since its result has to be above its
    /// sides.
    fn make(
        &self,
        equations: &[Linear],
        bounds: Vec<Linear>,
        keep: impl Fn(TermId) -> bool,
        round: bool,
    ) -> Option<Polyhedron> {
        let solved = Solved::new(equations, &keep)?;
        if round && solved.rows.iter().any(|(_, row)| self.unsolvable(row)) {
            return None;
        }
        let bounds = self.tidy(bounds.iter().map(|b| solved.reduce(b)), round)?;
        let mut bounds = self.eliminate(bounds, &keep, round)?;
        let kept = solved.rows.into_iter().filter(|(pivot, _)| keep(*pivot));
        let mut equations: Vec<Linear> = kept.map(|(_, row)| row).collect();
        // Bounds whose opposite is implied are equations.
        loop {
            if self.late() {
                return Some(self.limited(equations, bounds));
            }
            let mut oracle = self.points([], &bounds);
            if oracle.is_empty() {
                return None;
            }
            let tight = bounds
                .iter()
                .position(|b| oracle.is_at_most_zero(&b.negated()));
            let Some(tight) = tight else { break };
            equations.push(bounds.swap_remove(tight));
            let solved = Solved::new(&equations, |_| true)?;
            bounds = self.tidy(bounds.iter().map(|b| solved.reduce(b)), round)?;
            equations = solved.rows.into_iter().map(|r| r.1).collect();
            if round && equations.iter().any(|e| self.unsolvable(e)) {
                return None;
            }
        }
        self.irredundant(&[], &mut bounds);
        Some(self.limited(equations, bounds))
    }

    /// The convex hull; `None` if it would be large.
    fn hull(&self, a: &Polyhedron, b: &Polyhedron) -> Option<Polyhedron> {
        let (left, right) = (a.vars(), b.vars());
        let mut vars: Vec<TermId> = left.intersection(&right).copied().collect();
        vars.sort_unstable();
        if vars.len() > self.exact {
            return None;
        }
        let shared = |var: TermId| vars.binary_search(&var).is_ok();
        let width = vars.len() + 1;
        let mut generators = Cone::default();
        for polyhedron in [a, b] {
            let bounds = polyhedron.bounds.clone();
            let projected = self.make(&polyhedron.equations, bounds, shared, false)?;
            let mut one: Vector = vec![BigInt::zero(); width];
            one[0] = BigInt::one();
            // In the cone's constraints bounds are `-row >= 0`.
            let mut constraints = Cone {
                rays: vec![one],
                lines: Vec::new(),
            };
            for row in &projected.bounds {
                constraints.rays.push(dense(&row.negated(), &vars));
            }
            for row in &projected.equations {
                constraints.lines.push(dense(row, &vars));
            }
            let found = dual(&constraints, width, |pairs| self.charge(pairs))?;
            generators.rays.extend(found.rays);
            generators.lines.extend(found.lines);
        }
        let found = dual(&generators, width, |pairs| self.charge(pairs))?;
        let sparse = |vector: &Vector, sign: i64| Linear {
            monomials: vars
                .iter()
                .zip(&vector[1..])
                .filter(|(_, x)| !x.is_zero())
                .map(|(v, x)| (*v, Rational::from_integer(x * sign)))
                .collect(),
            constant: Rational::from_integer(&vector[0] * sign),
        };
        // A dual has no redundant rays, and none that is an equation.
        let equations: Vec<Linear> = found.lines.iter().map(|l| sparse(l, 1)).collect();
        let solved = Solved::new(&equations, |_| true)?;
        let bounds = found.rays.iter().map(|r| solved.reduce(&sparse(r, -1)));
        let bounds = self.tidy(bounds, false)?;
        let equations = solved.rows.into_iter().map(|r| r.1).collect();
        Some(self.limited(equations, bounds))
    }

    /// The simplest bounds, as many as an element may have.
    fn limited(&self, equations: Vec<Linear>, bounds: Vec<Linear>) -> Polyhedron {
        let mut result = Polyhedron { equations, bounds };
        let limit = LIMITS.rows_per_variable * result.vars().len() + LIMITS.base_rows;
        if result.bounds.len() > limit {
            let size = |row: &Linear| {
                let bits = row.monomials.iter().map(|m| m.1.numer().bits()).max();
                (row.monomials.len(), bits)
            };
            result.bounds.sort_by_key(size);
            result.bounds.truncate(limit);
        }
        result
    }

    /// The directions of both sides, each with the greater of their bounds.
    fn weak_join(&self, a: &Polyhedron, b: &Polyhedron) -> Option<Polyhedron> {
        let mut oracles = [a, b].map(|p| self.points(&p.equations, &p.bounds));
        let mut bounds = Vec::new();
        for mut row in a.inequalities().into_iter().chain(b.inequalities()) {
            if self.late() {
                return None;
            }
            let [first, second] = oracles.each_mut().map(|oracle| oracle.greatest(&row));
            if let (Some(first), Some(second)) = (first, second) {
                row.constant = -first.max(second);
                bounds.push(row);
            }
        }
        self.make(&[], bounds, |_| true, false)
    }
}

/// The row as an integer vector, the constant first.
fn dense(row: &Linear, vars: &[TermId]) -> Vector {
    let scale = Rational::from_integer(row.denominator());
    let mut vector = vec![BigInt::zero(); vars.len() + 1];
    vector[0] = (&row.constant * &scale).to_integer();
    for (var, coefficient) in &row.monomials {
        if let Ok(at) = vars.binary_search(var) {
            vector[at + 1] = (coefficient * &scale).to_integer();
        }
    }
    shorten(&mut vector);
    vector
}

impl NonemptyDomain for Polyhedra {
    type Set = Polyhedron;

    fn terms(&self) -> &TermStore {
        &self.terms
    }

    fn all(&self) -> Self::Set {
        Polyhedron::default()
    }

    fn transfer(
        &self,
        inputs: &[&Self::Set],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Option<Self::Set> {
        let mut equations = Vec::new();
        let mut bounds = Vec::new();
        for input in inputs {
            equations.extend(input.equations.iter().cloned());
            bounds.extend(input.bounds.iter().cloned());
        }
        let mut different = Vec::new();
        for row in cube.constraints() {
            match row.relation {
                Relation::Equal => equations.push(row.linear.clone()),
                Relation::AtMost | Relation::Below => bounds.push(row.linear.clone()),
                Relation::Differs if is_over_int(&self.terms, &row.linear) => {
                    different.push(row.linear.clone());
                }
                _ => {}
            }
        }
        let kept = |var: TermId| keep.map_or_else(|| self.terms.is_var(var), |k| k.contains(&var));
        let numbers = |k: &FxHashSet<TermId>| {
            let number = |v: &&TermId| self.terms.sort_of(**v).is_number();
            k.iter().filter(number).count()
        };
        if self.late()
            || keep.is_some_and(|k| numbers(k) > self.width)
            || equations.len() > 8 * self.width
            || bounds.len() > 4 * self.rows
        {
            return Some(self.all());
        }
        if !different.is_empty() {
            let mut oracle = self.points(&equations, &bounds);
            for row in different {
                for side in [row.negated(), row] {
                    if oracle.is_at_most_zero(&side) {
                        // Below zero, hence at most minus one, once it has integer coefficients.
                        let mut side = side.coprime();
                        if side.constant.is_integer() {
                            side.constant += Rational::one();
                            bounds.push(side);
                        }
                    }
                }
            }
        }
        let result = self.make(&equations, bounds, kept, true)?;
        if result.vars().len() > self.width {
            return Some(self.all());
        }
        Some(result)
    }

    fn join(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        if self.late() {
            return Some(self.all());
        }
        if self.entails(a, b) {
            return Some(b.clone());
        }
        if self.entails(b, a) {
            return Some(a.clone());
        }
        self.hull(a, b)
            .or_else(|| self.weak_join(a, b))
            .or_else(|| Some(self.all()))
    }

    fn widen(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        if self.late() {
            return Some(self.all());
        }
        let mut above = self.points(&b.equations, &b.bounds);
        let old = a.inequalities();
        let mut bounds: Vec<Linear> = old
            .iter()
            .filter(|r| above.is_at_most_zero(r))
            .cloned()
            .collect();
        // New constraints that could replace a constraint of the old system.
        if old.len() <= self.rows {
            for row in b.inequalities() {
                let replaces = |i: usize| {
                    let others = old.iter().enumerate().filter(|(j, _)| *j != i);
                    let rows = others.map(|o| o.1).chain([&row]);
                    self.points([], rows).is_at_most_zero(&old[i])
                };
                let mut below = self.points([], &old);
                if below.is_at_most_zero(&row) && (0..old.len()).any(replaces) {
                    bounds.push(row);
                }
            }
        }
        self.make(&[], bounds, |_| true, false)
            .or_else(|| Some(self.all()))
    }

    fn narrow(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        let known = if b.vars().is_empty() { a } else { b };
        Some(known.clone())
    }

    fn entails(&self, a: &Self::Set, b: &Self::Set) -> bool {
        let mut oracle = self.points(&a.equations, &a.bounds);
        b.inequalities()
            .iter()
            .all(|row| oracle.is_at_most_zero(row))
    }

    fn rename(&self, set: &Self::Set, map: &FxHashMap<TermId, TermId>) -> Option<Self::Set> {
        let renamed = |row: &Linear| row.mapped(|v| map.get(&v).copied().unwrap_or(v));
        Some(Polyhedron {
            equations: set.equations.iter().map(renamed).collect(),
            bounds: set.bounds.iter().map(renamed).collect(),
        })
    }

    fn facts(&self, set: &Self::Set) -> Vec<Fact> {
        let equations = set.equations.iter();
        let bounds = set.bounds.iter();
        equations
            .map(|r| Fact::linear(r.clone(), Relation::Equal))
            .chain(bounds.map(|r| Fact::linear(r.clone(), Relation::AtMost)))
            .collect()
    }
}
