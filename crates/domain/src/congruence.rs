//! Affine equations over Int and Real, and congruences between integers.
//!
//! An element is a system of equations `t = 0` in solved form and of rows `t ∈ Z` with rational
//! coefficients in Hermite normal form; rows for the integrality of variables are implicit.
//! Variables are eliminated in this form, by ordering them first. A join uses generators: a point,
//! vectors whose integer multiples may be added, and vectors of which any multiple may be added.
//! The two forms are dual bases, so the conversion is the inverse of a matrix.
//!
//! Invariant: the first column of a generator is the coefficient of one; it is an integer in all
//! generated vectors, and one for the points of the element.

use std::rc::Rc;
use std::time::Duration;

use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cube::{Cube, Fact};
use super::nonempty::NonemptyDomain;
use alphorn_arith::{Echelon, Relation, Solved, inverse, is_integral, subtract};
use alphorn_term::{Linear, Rational, SortId, TermId, TermStore};

/// Work charged for each change of an entry of a row.
const ENTRY_WORK: Duration = Duration::from_nanos(200);

/// Linear equalities (Karr, Acta Informatica 1976) with linear congruences (Granger, TAPSOFT 1991),
/// with the operations of grids (Bagnara et al., LOPSTR 2006).
pub struct Congruences {
    terms: Rc<TermStore>,
    /// Variables of an element, at most.
    width: usize,
    /// Rows in a transfer, at most.
    rows: usize,
}

/// Equations, and rows whose values are integers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lattice {
    equations: Vec<Linear>,
    integral: Vec<Linear>,
}

impl Lattice {
    fn rows(&self) -> impl Iterator<Item = &Linear> {
        self.equations.iter().chain(&self.integral)
    }

    fn vars(&self) -> FxHashSet<TermId> {
        let monomials = self.rows().flat_map(|r| &r.monomials);
        monomials.map(|m| m.0).collect()
    }
}

impl Congruences {
    /// The domain over a store, for at most `width` variables at a time.
    pub fn new(terms: Rc<TermStore>, width: usize) -> Self {
        Congruences {
            terms,
            width,
            rows: 12 * width,
        }
    }

    fn is_int(&self, var: TermId) -> bool {
        self.terms.sort_of(var) == SortId::INT
    }

    /// Charges for changes of entries of rows.
    fn charge(&self, entries: usize) {
        let entries = u32::try_from(entries).unwrap_or(u32::MAX);
        self.terms.charge(ENTRY_WORK.saturating_mul(entries));
    }

    /// The canonical form of the rows' projection onto the variables to keep; `None` for a
    /// contradiction.
    fn solve(
        &self,
        equations: Vec<Linear>,
        integral: Vec<Linear>,
        keep: impl Fn(TermId) -> bool,
    ) -> Option<Lattice> {
        // Each row is added to some of the others.
        let rows = equations.len() + integral.len();
        let all = equations.iter().chain(&integral);
        let entries: usize = all.map(|r| r.monomials.len()).sum();
        self.charge(rows * entries / 2);
        let solved = Solved::new(&equations, &keep)?;
        let mut integral: Vec<Linear> = integral.iter().map(|r| solved.reduce(r)).collect();
        // A pivot that is an integer may restrict the rest of its row.
        for (pivot, row) in &solved.rows {
            if self.is_int(*pivot) && !is_integral(&self.terms, row) {
                let mut rest = row.clone();
                rest.monomials.retain(|m| m.0 != *pivot);
                integral.push(rest);
            }
        }
        let integral = self.hermite(integral, &keep)?;
        let kept = solved.rows.into_iter().filter(|s| keep(s.0));
        Some(Lattice {
            equations: kept.map(|s| s.1).collect(),
            integral,
        })
    }

    /// The Hermite normal form of rows that are integers, without eliminated variables and without
    /// rows that the sorts imply.
    fn hermite(&self, rows: Vec<Linear>, keep: &impl Fn(TermId) -> bool) -> Option<Vec<Linear>> {
        let mut rows = rows;
        rows.retain(|r| !is_integral(&self.terms, r));
        let mut vars: Vec<TermId> = rows
            .iter()
            .flat_map(|r| r.monomials.iter().map(|m| m.0))
            .collect();
        vars.sort_unstable_by_key(|v| (keep(*v), *v));
        vars.dedup();
        let mut pivots: Vec<(TermId, Linear)> = Vec::new();
        for &var in &vars {
            let (mut with, without): (Vec<Linear>, Vec<Linear>) = rows
                .into_iter()
                .partition(|r| !r.coefficient(var).is_zero());
            rows = without;
            if self.is_int(var) {
                with.push(Linear::unit(var));
            }
            // Euclid's algorithm on the column.
            while with.len() > 1 {
                let least = (0..with.len())
                    .min_by_key(|&i| with[i].coefficient(var).abs())
                    .unwrap_or(0);
                let pivot = with.swap_remove(least);
                let coefficient = pivot.coefficient(var);
                let mut next = Vec::with_capacity(with.len() + 1);
                for row in with {
                    let quotient = (row.coefficient(var) / &coefficient).round();
                    let row = row.add_scaled(&pivot, &-quotient);
                    if !row.coefficient(var).is_zero() {
                        next.push(row);
                    } else if !is_integral(&self.terms, &row) {
                        rows.push(row);
                    }
                }
                next.push(pivot);
                with = next;
            }
            if let Some(pivot) = with.pop()
                && keep(var)
            {
                let pivot = if pivot.coefficient(var).is_negative() {
                    pivot.negated()
                } else {
                    pivot
                };
                pivots.push((var, pivot));
            }
        }
        // Only constants are left.
        if rows.iter().any(|r| !r.constant.is_integer()) {
            return None;
        }
        // Entries between zero and the pivot of their column.
        for i in 0..pivots.len() {
            let mut row = pivots[i].1.clone();
            for (var, pivot) in &pivots[i + 1..] {
                let quotient = (row.coefficient(*var) / pivot.coefficient(*var)).floor();
                if !quotient.is_zero() {
                    row = row.add_scaled(pivot, &-quotient);
                }
            }
            row.constant -= row.constant.floor();
            pivots[i].1 = row;
        }
        let rows = pivots.into_iter().map(|p| p.1);
        Some(rows.filter(|r| !is_integral(&self.terms, r)).collect())
    }

    fn project(&self, lattice: &Lattice, keep: impl Fn(TermId) -> bool) -> Lattice {
        let (equations, integral) = (lattice.equations.clone(), lattice.integral.clone());
        self.solve(equations, integral, keep).unwrap_or_default()
    }

    /// The generators over these variables, which include all of the lattice's.
    fn generators(&self, lattice: &Lattice, vars: &[TermId]) -> Option<Basis> {
        let width = vars.len() + 1;
        self.charge(width.pow(3));
        let dense = |row: &Linear| {
            let mut vector = vec![Rational::zero(); width];
            vector[0] = row.constant.clone();
            for (var, coefficient) in &row.monomials {
                if let Ok(at) = vars.binary_search(var) {
                    vector[at + 1] = coefficient.clone();
                }
            }
            vector
        };
        let mut basis = Basis {
            lines: lattice.equations.iter().map(dense).collect(),
            points: lattice.integral.iter().map(dense).collect(),
        };
        let one = Linear::constant(Rational::one());
        basis.points.push(dense(&one));
        let ints = vars.iter().filter(|v| self.is_int(**v));
        basis.points.extend(ints.map(|v| dense(&Linear::unit(*v))));
        basis.reduce(width);
        basis.dual(width)
    }

    /// The lattice that the generators span.
    fn spanned(&self, mut basis: Basis, vars: &[TermId]) -> Option<Lattice> {
        let width = vars.len() + 1;
        self.charge(width.pow(3));
        basis.reduce(width);
        let dual = basis.dual(width)?;
        let sparse = |vector: Vec<Rational>| {
            let mut entries = vector.into_iter();
            let constant = entries.next().unwrap_or_default();
            let monomials = vars.iter().copied().zip(entries);
            Linear {
                monomials: monomials.filter(|m| !m.1.is_zero()).collect(),
                constant,
            }
        };
        let equations = dual.lines.into_iter().map(sparse).collect();
        let integral = dual.points.into_iter().map(sparse).collect();
        self.solve(equations, integral, |_| true)
    }

    /// Whether the lattice implies the row, as an equation or as an integer.
    fn implies(&self, lattice: &Lattice, row: &Linear, equation: bool) -> bool {
        let mut rest = row.clone();
        for solved in &lattice.equations {
            let Some((pivot, minus_one)) = solved.monomials.last() else {
                continue;
            };
            let factor = rest.coefficient(*pivot) / minus_one;
            if !factor.is_zero() {
                rest = rest.add_scaled(solved, &-factor);
            }
        }
        if equation {
            return rest.is_constant() && rest.constant.is_zero();
        }
        // The rows are triangular: each has a first variable that later ones lack.
        for row in &lattice.integral {
            let Some((pivot, coefficient)) = row.monomials.first() else {
                continue;
            };
            let quotient = (rest.coefficient(*pivot) / coefficient).round();
            if !quotient.is_zero() {
                rest = rest.add_scaled(row, &-quotient);
            }
        }
        is_integral(&self.terms, &rest)
    }
}

/// Vectors with integer multiples (`points`) and with arbitrary multiples (`lines`).
struct Basis {
    points: Vec<Vec<Rational>>,
    lines: Vec<Vec<Rational>>,
}

impl Basis {
    /// Makes the vectors independent: lines in reduced echelon form; points triangular, without
    /// entries in the lines' columns.
    fn reduce(&mut self, width: usize) {
        let mut lines = Echelon::new(width);
        for line in std::mem::take(&mut self.lines) {
            // A line that depends on others is redundant.
            let _ = lines.add(line);
        }
        let mut open = std::mem::take(&mut self.points);
        for point in &mut open {
            lines.reduce(point);
        }
        self.lines = lines.rows.into_iter().map(|l| l.1).collect();
        for column in 0..width {
            let (mut with, without): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|p| !p[column].is_zero());
            open = without;
            while with.len() > 1 {
                let least = (0..with.len())
                    .min_by_key(|&i| with[i][column].abs())
                    .unwrap_or(0);
                let pivot = with.swap_remove(least);
                let mut next = Vec::with_capacity(with.len() + 1);
                for mut point in with {
                    let quotient = (&point[column] / &pivot[column]).round();
                    subtract(&mut point, &pivot, &quotient);
                    if point[column].is_zero() {
                        open.push(point);
                    } else {
                        next.push(point);
                    }
                }
                next.push(pivot);
                with = next;
            }
            self.points.append(&mut with);
        }
    }

    /// The dual of a reduced basis: vectors whose product with all points is an integer and with
    /// all lines zero.
    fn dual(&self, width: usize) -> Option<Basis> {
        let first = |v: &Vec<Rational>| v.iter().position(|c| !c.is_zero());
        let vectors = || self.points.iter().chain(&self.lines);
        let used: FxHashSet<usize> = vectors().filter_map(first).collect();
        let mut matrix: Vec<Vec<Rational>> = vectors().cloned().collect();
        for column in (0..width).filter(|c| !used.contains(c)) {
            let mut vector = vec![Rational::zero(); width];
            vector[column] = Rational::one();
            matrix.push(vector);
        }
        let inverse = inverse(matrix)?;
        let column = |i: usize| inverse.iter().map(|row| row[i].clone()).collect();
        let (points, lines) = (self.points.len(), self.lines.len());
        Some(Basis {
            points: (0..points).map(column).collect(),
            lines: (points + lines..width).map(column).collect(),
        })
    }
}

impl NonemptyDomain for Congruences {
    type Set = Lattice;

    fn terms(&self) -> &TermStore {
        &self.terms
    }

    fn all(&self) -> Self::Set {
        Lattice::default()
    }

    fn transfer(
        &self,
        inputs: &[&Self::Set],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Option<Self::Set> {
        let mut equations = Vec::new();
        let mut integral = Vec::new();
        for input in inputs {
            equations.extend(input.equations.iter().cloned());
            integral.extend(input.integral.iter().cloned());
        }
        for row in cube.constraints() {
            match row.relation {
                Relation::Equal => equations.push(row.linear.clone()),
                Relation::Integral => integral.push(row.linear.clone()),
                _ => {}
            }
        }
        if equations.len() + integral.len() > self.rows {
            return Some(self.all());
        }
        let lattice = self.solve(equations, integral, |var| {
            keep.map_or_else(|| self.terms.is_var(var), |k| k.contains(&var))
        })?;
        if lattice.vars().len() > self.width {
            return Some(self.all());
        }
        Some(lattice)
    }

    fn join(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        if self.entails(a, b) {
            return Some(b.clone());
        }
        if self.entails(b, a) {
            return Some(a.clone());
        }
        // A variable that is free on one side is free.
        let (left, right) = (a.vars(), b.vars());
        let mut vars: Vec<TermId> = left.intersection(&right).copied().collect();
        vars.sort_unstable();
        let shared = |var: TermId| vars.binary_search(&var).is_ok();
        let generators = |l: &Lattice| self.generators(&self.project(l, shared), &vars);
        let (Some(mut basis), Some(other)) = (generators(a), generators(b)) else {
            return Some(self.all());
        };
        basis.points.extend(other.points);
        basis.lines.extend(other.lines);
        Some(self.spanned(basis, &vars).unwrap_or_default())
    }

    fn widen(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        let joined = self.join(a, b);
        // Equations are lost only finitely often; congruences that replace a lost equation are
        // kept, and others are not added.
        if let Some(new) = &joined
            && a.equations.len() == new.equations.len()
        {
            let kept = a.integral.iter();
            return Some(Lattice {
                equations: new.equations.clone(),
                integral: kept
                    .filter(|r| self.implies(new, r, false))
                    .cloned()
                    .collect(),
            });
        }
        joined
    }

    fn entails(&self, a: &Self::Set, b: &Self::Set) -> bool {
        b.equations.iter().all(|r| self.implies(a, r, true))
            && b.integral.iter().all(|r| self.implies(a, r, false))
    }

    fn rename(&self, set: &Self::Set, map: &FxHashMap<TermId, TermId>) -> Option<Self::Set> {
        let renamed = |row: &Linear| row.mapped(|v| map.get(&v).copied().unwrap_or(v));
        let equations = set.equations.iter().map(renamed).collect();
        let integral = set.integral.iter().map(renamed).collect();
        // The canonical form depends on the order of variables, which may have changed.
        self.solve(equations, integral, |_| true)
    }

    fn facts(&self, set: &Self::Set) -> Vec<Fact> {
        let equations = set.equations.iter();
        let integral = set.integral.iter();
        equations
            .map(|r| Fact::linear(r.clone(), Relation::Equal))
            .chain(integral.map(|r| Fact::linear(r.clone(), Relation::Integral)))
            .collect()
    }
}
