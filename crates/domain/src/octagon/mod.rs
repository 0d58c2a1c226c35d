//! Octagons: bounds of `±x ± y` over Int and Real, in a difference bound matrix.
//!
//! Each variable `x` has two nodes, `x` and `-x`, and entry `(i, j)` bounds `v_j - v_i`. Variables
//! that a cube equates up to sign and offset share a row of the matrix while it is built, so that
//! an assignment needs no closure. Rows with more than two variables are reduced to octagonal
//! constraints by the bounds of their other variables. Matrices are small and dense:
//! [`Packs`](super::packs::Packs) splits large systems.
//!
//! Invariant: a matrix is coherent (entry `(i, j)` equals entry `(-j, -i)`), and closed unless it
//! is the result of a widening, which is not closed, since then chains of widenings might not end.

mod aliases;
mod matrix;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use num_traits::{Signed, ToPrimitive};
use rustc_hash::{FxHashMap, FxHashSet};

use self::aliases::{Alias, Aliases};
use self::matrix::{LIMIT, Matrix, NONE, clamp, plus};
use super::cube::{Cube, Fact};
use super::nonempty::NonemptyDomain;
use alphorn_arith::{Constraint, Relation};
use alphorn_term::{Linear, Rational, SortId, TermId, TermStore};

/// Limits of octagons.
struct Limits {
    /// Absolute value of the offset of an alias, so that chains of them do not overflow; equations
    /// with larger ones are no aliases.
    max_offset: i64,
    /// Rounds through the rows that are not octagonal; further ones are left out.
    max_rounds: usize,
    /// Variables of a row that is not octagonal, for bounds of pairs; larger rows bound single
    /// variables only.
    max_row_variables: usize,
}

const LIMITS: Limits = Limits {
    max_offset: 1 << 46,
    max_rounds: 2,
    max_row_variables: 8,
};
/// Work charged for each entry of a matrix that is read.
const ENTRY_WORK: Duration = Duration::from_nanos(2);

/// Octagons (Miné, HOSC 2006) with the integer closure of Bagnara, Hill and Zaffanella (FMSD 2009)
/// and its incremental form (Chawdhary, Robbins and King, FMSD 2019).
pub struct Octagons {
    terms: Rc<TermStore>,
    /// Variables of a matrix, at most.
    width: usize,
    /// Bounds are multiples of one divided by this.
    scale: i64,
    /// Thresholds of widening, ascending, in these multiples.
    thresholds: Vec<i64>,
}

/// Bounds of sums and differences of some variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Octagon {
    /// Ascending.
    vars: Vec<TermId>,
    matrix: Matrix,
    open: bool,
}

/// `sum of c * x + constant <= 0` with machine integers, over rows of the matrix.
struct Small {
    monomials: Vec<(usize, i64)>,
    constant: i128,
}

/// Whether the absolute value is at most the limit; the least `i64` has no absolute value.
fn is_at_most(value: i64, limit: i64) -> bool {
    (-limit..=limit).contains(&value)
}

impl Octagons {
    /// The domain over a store, for at most `width` variables at a time. Bounds are rounded up to
    /// multiples of one divided by `scale`; widening goes to the next of the thresholds first.
    pub fn new(terms: Rc<TermStore>, width: usize, scale: u32, thresholds: &[Rational]) -> Self {
        let scale = i64::from(scale.max(1));
        let factor = Rational::from_integer(scale.into());
        let scaled = thresholds
            .iter()
            .filter_map(|t| (t * &factor).ceil().to_integer().to_i64());
        let mut thresholds: Vec<i64> = scaled.filter(|&t| is_at_most(t, LIMIT / 2)).collect();
        thresholds.sort_unstable();
        thresholds.dedup();
        Octagons {
            terms,
            width,
            scale,
            thresholds,
        }
    }

    fn is_number(&self, term: TermId) -> bool {
        self.terms.sort_of(term).is_number()
    }

    fn charge(&self, entries: usize) {
        self.terms
            .charge(ENTRY_WORK * u32::try_from(entries).unwrap_or(u32::MAX));
    }

    fn whole(&self, var: TermId) -> bool {
        self.terms.sort_of(var) == SortId::INT
    }

    /// The element with a closed matrix; `None` if it is empty.
    fn closed<'a>(&self, octagon: &'a Octagon) -> Option<Cow<'a, Octagon>> {
        if !octagon.open {
            return Some(Cow::Borrowed(octagon));
        }
        let mut octagon = octagon.clone();
        octagon.open = false;
        self.charge(octagon.matrix.size.pow(3));
        octagon
            .matrix
            .close(self.scale)
            .then_some(Cow::Owned(octagon))
    }

    /// The projection onto some of its variables. The matrix must be closed.
    fn restricted(&self, octagon: &Octagon, keep: impl Fn(TermId) -> bool) -> Octagon {
        let old = &octagon.matrix;
        let bounded = |k: usize| {
            let rows = [2 * k, 2 * k + 1];
            let says = |i: usize| (0..old.size).any(|j| j != i && old.get(i, j) != NONE);
            rows.into_iter().any(says)
        };
        let kept: Vec<usize> = (0..octagon.vars.len())
            .filter(|&k| keep(octagon.vars[k]) && bounded(k))
            .collect();
        if kept.len() == octagon.vars.len() {
            return octagon.clone();
        }
        let integral = kept.iter().map(|&k| old.integral[k]).collect();
        let mut matrix = Matrix::new(integral);
        for i in 0..matrix.size {
            for j in 0..matrix.size {
                let entry = old.get(2 * kept[i / 2] + i % 2, 2 * kept[j / 2] + j % 2);
                matrix.entries[i * matrix.size + j] = entry;
            }
        }
        Octagon {
            vars: kept.iter().map(|&k| octagon.vars[k]).collect(),
            matrix,
            open: octagon.open,
        }
    }

    /// Uses an equation `a * x + b * y + c = 0` with `|a| = |b|` as an alias of one variable for
    /// the other.
    fn alias(&self, aliases: &mut Aliases, row: &Linear) -> bool {
        let [(x, a), (y, b)] = &row.monomials[..] else {
            return false;
        };
        if a.abs() != b.abs() || !self.is_number(*x) || !self.is_number(*y) {
            return false;
        }
        // x = -b/a * y - c/a
        let offset = -&row.constant / a * Rational::from_integer(self.scale.into());
        let Some(offset) = offset
            .is_integer()
            .then(|| offset.to_integer().to_i64())
            .flatten()
            .filter(|&o| is_at_most(o, LIMITS.max_offset))
        else {
            return false;
        };
        let negated = a == b;
        let (i, j) = (aliases.add(*x), aliases.add(*y));
        let (x, y) = (aliases.find(i), aliases.find(j));
        if x.root == y.root {
            return false;
        }
        // sx * X + ox = s * (sy * Y + oy) + offset
        let sign = |negated: bool| if negated { -1 } else { 1 };
        let turned = x.negated ^ y.negated ^ negated;
        let shift = sign(x.negated) * (sign(negated) * y.offset + offset - x.offset);
        let whole = |root: usize| self.whole(aliases.vars[root]);
        if !is_at_most(shift, LIMITS.max_offset)
            || whole(x.root) && whole(y.root) && shift % self.scale != 0
        {
            return false;
        }
        let (from, to, shift) = if whole(x.root) && !whole(y.root) {
            // Y = sign * (X - shift)
            (y.root, x.root, -sign(turned) * shift)
        } else {
            (x.root, y.root, shift)
        };
        aliases.links[from] = Alias {
            root: to,
            negated: turned,
            offset: shift,
        };
        true
    }

    /// The row over the rows of the matrix, scaled; `None` if numbers are too large or a term is
    /// not a number.
    fn small(
        &self,
        row: &Linear,
        differs: bool,
        aliases: &Aliases,
        place: &[usize],
    ) -> Option<Small> {
        let row = row.coprime();
        let scale = Rational::from_integer(self.scale.into());
        // Over integers the constant can be rounded up.
        let constant = if row.monomials.iter().all(|m| self.whole(m.0)) {
            row.constant.ceil() * scale
        } else {
            &row.constant * scale
        };
        let rounded = !constant.is_integer() || !row.constant.is_integer();
        if differs && rounded {
            return None;
        }
        let mut constant = constant.floor().to_integer().to_i128()?;
        let mut sums: BTreeMap<usize, i64> = BTreeMap::new();
        for (var, coefficient) in &row.monomials {
            let coefficient = coefficient.to_integer().to_i32()?;
            let alias = aliases.find(*aliases.at.get(var)?);
            let signed = i64::from(coefficient) * if alias.negated { -1 } else { 1 };
            constant = constant.checked_add(i128::from(coefficient) * i128::from(alias.offset))?;
            *sums.entry(place[alias.root]).or_default() += signed;
        }
        sums.retain(|_, c| *c != 0);
        (constant.unsigned_abs() < 1 << 100).then_some(Small {
            monomials: sums.into_iter().collect(),
            constant,
        })
    }

    /// Adds the bounds that `row <= 0` implies for single variables and pairs; `None` for a
    /// contradiction.
    fn at_most(&self, matrix: &mut Matrix, row: &Small) -> Option<bool> {
        let monomials = &row.monomials;
        if monomials.is_empty() {
            return (row.constant <= 0).then_some(false);
        }
        // Twice the least value of each summand.
        let least = |matrix: &Matrix, &(var, c): &(usize, i64)| {
            let node = 2 * var + usize::from(c > 0);
            let bound = matrix.unary(node);
            (bound != NONE).then(|| -i128::from(bound) * i128::from(c.unsigned_abs()))
        };
        let octagonal = match monomials[..] {
            [_] => true,
            [(_, a), (_, b)] => a.abs() == b.abs(),
            _ => false,
        };
        let values: Vec<Option<i128>> = monomials.iter().map(|m| least(matrix, m)).collect();
        let unbounded = values.iter().filter(|v| v.is_none()).count();
        if monomials.len() > LIMITS.max_row_variables && unbounded > 1 || unbounded > 2 {
            return Some(false);
        }
        let sum: i128 = values.iter().flatten().sum();
        let mut changed = false;
        let mut add = |matrix: &mut Matrix, i: usize, j: usize, twice: i128, factor: i64| {
            // v_j - v_i <= twice / (2 * factor), rounded up.
            let divisor = 2 * i128::from(factor);
            let exact = matrix.integral[i / 2] && matrix.integral[j / 2];
            let bound = if exact {
                twice.div_euclid(divisor)
            } else {
                -(-twice).div_euclid(divisor)
            };
            changed |= matrix.add(i, j, clamp(bound), self.scale)?;
            Some(())
        };
        let node = |(var, c): (usize, i64), sign: bool| 2 * var + usize::from((c > 0) != sign);
        for (k, &first) in monomials.iter().enumerate() {
            // A single variable: c * x <= -(constant + least value of the others), for twice the
            // variable.
            let others = unbounded - usize::from(values[k].is_none());
            if others == 0 {
                let rest = 2 * row.constant + sum - values[k].unwrap_or(0);
                let (from, to) = (node(first, false), node(first, true));
                // v_to - v_from = 2 |x|.
                add(matrix, from, to, -2 * rest, first.1.abs())?;
            }
            if octagonal && k > 0 || monomials.len() > LIMITS.max_row_variables {
                continue;
            }
            for (l, &second) in monomials.iter().enumerate().skip(k + 1) {
                if first.1.abs() != second.1.abs() {
                    continue;
                }
                let open = usize::from(values[k].is_none()) + usize::from(values[l].is_none());
                if unbounded > open {
                    continue;
                }
                let own = values[k].unwrap_or(0) + values[l].unwrap_or(0);
                let rest = 2 * row.constant + sum - own;
                // v_j - v_i with j for the first variable and i for the negation of the second.
                let (i, j) = (node(second, false), node(first, true));
                add(matrix, i, j, -rest, first.1.abs())?;
            }
        }
        Some(changed)
    }

    /// Uses a disequation that excludes the end of an interval; `None` for a contradiction.
    fn differs(&self, matrix: &mut Matrix, row: &Small) -> Option<bool> {
        let scale = self.scale;
        let whole = row.monomials.iter().all(|m| matrix.integral[m.0]);
        let Some(factor) = row.monomials.first().map(|m| m.1.abs()).filter(|_| whole) else {
            let zero = row.monomials.is_empty() && row.constant == 0;
            return (!zero).then_some(false);
        };
        if row.monomials.iter().any(|m| m.1.abs() != factor) {
            return Some(false);
        }
        let node = |(var, c): (usize, i64), sign: bool| 2 * var + usize::from((c > 0) != sign);
        // sum = -constant / factor is excluded.
        let excluded = -row.constant;
        if excluded % (i128::from(factor) * i128::from(scale)) != 0 {
            return Some(false);
        }
        let excluded = clamp(excluded / i128::from(factor));
        if excluded.abs() >= LIMIT / 4 {
            return Some(false);
        }
        let (i, j, unit) = match row.monomials[..] {
            [one] => (node(one, false), node(one, true), 2),
            [first, second] => (node(second, false), node(first, true), 1),
            _ => return Some(false),
        };
        let mut changed = false;
        if matrix.get(i, j) == unit * excluded {
            changed |= matrix.add(i, j, unit * (excluded - scale), scale)?;
        }
        if matrix.get(j, i) == -unit * excluded {
            changed |= matrix.add(j, i, -unit * (excluded + scale), scale)?;
        }
        Some(changed)
    }

    /// The bounds as facts, without those that follow from others.
    fn reduced(&self, octagon: &Octagon) -> Vec<Fact> {
        let matrix = &octagon.matrix;
        let size = matrix.size;
        let tied = |i: usize, j: usize| {
            let (there, back) = (matrix.get(i, j), matrix.get(j, i));
            there != NONE && back != NONE && there + back == 0
        };
        // The first node to which a node is equal up to an offset; nodes of constants equal their
        // negations.
        let leader: Vec<usize> = (0..size)
            .map(|i| (0..i).find(|&j| tied(i, j)).unwrap_or(i))
            .collect();
        let constant = |i: usize| tied(i, i ^ 1);
        let mut facts = Vec::new();
        for k in 0..octagon.vars.len() {
            let node = 2 * k;
            let (low, high) = (matrix.unary(node ^ 1), matrix.unary(node));
            if constant(node) {
                facts.push(self.fact(octagon, node ^ 1, node, Relation::Equal));
                continue;
            }
            // Bounds of single variables are kept even if others imply them.
            for (bound, i, j) in [(low, node, node ^ 1), (high, node ^ 1, node)] {
                if bound != NONE {
                    facts.push(self.fact(octagon, i, j, Relation::AtMost));
                }
            }
            if leader[node] != node {
                facts.push(self.fact(octagon, leader[node], node, Relation::Equal));
            }
        }
        let leads = |i: usize| leader[i] == i && leader[i & !1] == i & !1 && !constant(i);
        let leaders: Vec<usize> = (0..size).filter(|&i| leads(i)).collect();
        for &i in &leaders {
            for &j in &leaders {
                // Each pair once; a node and its negation were handled above.
                if i / 2 >= j / 2 || matrix.get(i, j) == NONE {
                    continue;
                }
                let bound = matrix.get(i, j);
                let (a, b) = (matrix.get(i, i ^ 1), matrix.get(j ^ 1, j));
                let apart = a != NONE && b != NONE && (a + b + 1).div_euclid(2) <= bound;
                let by_way = || {
                    leaders.iter().any(|&k| {
                        k != i
                            && k != j
                            && k ^ 1 != i
                            && k ^ 1 != j
                            && plus(matrix.get(i, k), matrix.get(k, j)) <= bound
                    })
                };
                if !apart && !by_way() {
                    facts.push(self.fact(octagon, i, j, Relation::AtMost));
                }
            }
        }
        facts
    }

    /// Entry `(i, j)` as a fact.
    fn fact(&self, octagon: &Octagon, i: usize, j: usize, relation: Relation) -> Fact {
        let unit = |node: usize| {
            let unit = Linear::unit(octagon.vars[node / 2]);
            if node & 1 == 0 { unit } else { unit.negated() }
        };
        let bound = octagon.matrix.get(i, j);
        let mut linear = unit(j).minus(&unit(i));
        linear.constant = -Rational::new(bound.into(), self.scale.into());
        if i ^ 1 == j {
            linear = linear.scaled(&Rational::new(1.into(), 2.into()));
        }
        Fact::linear(linear, relation)
    }

    /// Combines both entry by entry over the variables that both constrain.
    fn combine(
        &self,
        x: &Octagon,
        y: &Octagon,
        open: bool,
        entry: impl Fn(i64, i64, bool) -> i64,
    ) -> Octagon {
        let common: FxHashSet<TermId> = x.vars.iter().copied().collect();
        let y = self.restricted(y, |v| common.contains(&v));
        let common: FxHashSet<TermId> = y.vars.iter().copied().collect();
        let mut x = self.restricted(x, |v| common.contains(&v));
        let size = x.matrix.size.max(1);
        let entries = x.matrix.entries.iter_mut().zip(&y.matrix.entries);
        for (at, (a, b)) in entries.enumerate() {
            *a = entry(*a, *b, (at / size) ^ 1 == at % size);
        }
        x.open = open;
        self.restricted(&x, |_| true)
    }

    fn transfer_small(
        &self,
        inputs: &[Cow<Octagon>],
        cube: &Cube,
        kept: impl Fn(TermId) -> bool,
    ) -> Option<Octagon> {
        let mut aliases = Aliases::new();
        for input in inputs {
            for &var in &input.vars {
                aliases.add(var);
            }
        }
        let mut rows: Vec<&Constraint> = Vec::new();
        for row in cube.constraints() {
            let monomials = &row.linear.monomials;
            if row.relation == Relation::Integral || !monomials.iter().all(|m| self.is_number(m.0))
            {
                continue;
            }
            for (var, _) in monomials {
                aliases.add(*var);
            }
            if row.relation != Relation::Equal || !self.alias(&mut aliases, &row.linear) {
                rows.push(row);
            }
        }
        if aliases.vars.len() > 10 * self.width {
            return Some(Octagon::default());
        }
        // Rows of the matrix for the roots.
        let mut place = vec![usize::MAX; aliases.vars.len()];
        let mut integral = Vec::new();
        for (at, var) in aliases.vars.iter().enumerate() {
            if aliases.links[at].root == at {
                place[at] = integral.len();
                integral.push(self.whole(*var));
            }
        }
        if integral.len() > 3 * self.width {
            return Some(Octagon::default());
        }
        // The node of a signed variable, and the difference of their values.
        let node = |var: TermId, negated: bool| {
            let alias = aliases.find(aliases.at[&var]);
            let node = 2 * place[alias.root] + usize::from(alias.negated != negated);
            (node, if negated { -alias.offset } else { alias.offset })
        };
        let mut matrix = Matrix::new(integral);
        let mut seen = FxHashSet::default();
        let mut closed = true;
        for input in inputs {
            let size = input.matrix.size;
            let nodes: Vec<(usize, i64)> = (0..size)
                .map(|i| node(input.vars[i / 2], i % 2 == 1))
                .collect();
            for k in 0..input.vars.len() {
                closed &= seen.insert(nodes[2 * k].0 / 2);
            }
            for i in 0..size {
                for j in 0..size {
                    let bound = input.matrix.get(i, j);
                    if i != j && bound != NONE {
                        let ((from, below), (to, above)) = (nodes[i], nodes[j]);
                        let bound = plus(bound, below - above);
                        if from == to {
                            if bound < 0 {
                                return None;
                            }
                            continue;
                        }
                        matrix.lower(from, to, matrix.rounded(from, to, bound, self.scale));
                    }
                }
            }
        }
        let squares = matrix.size.pow(2);
        self.charge(if closed {
            squares
        } else {
            squares * matrix.size
        });
        let consistent = if closed {
            matrix.strengthen(self.scale)
        } else {
            matrix.close(self.scale)
        };
        if !consistent {
            return None;
        }
        let mut small: Vec<(Small, bool)> = Vec::new();
        for row in rows {
            let sides = match row.relation {
                Relation::Equal => vec![row.linear.clone(), row.linear.negated()],
                _ => vec![row.linear.clone()],
            };
            let differs = row.relation == Relation::Differs;
            for side in sides {
                let found = self.small(&side, differs, &aliases, &place);
                small.extend(found.map(|s| (s, differs)));
            }
        }
        small.sort_by_key(|s| s.0.monomials.len());
        for _ in 0..LIMITS.max_rounds {
            let mut changed = false;
            self.charge(squares * small.len());
            for (row, differs) in &small {
                changed |= if *differs {
                    self.differs(&mut matrix, row)?
                } else {
                    self.at_most(&mut matrix, row)?
                };
            }
            if !changed {
                break;
            }
        }
        let mut vars: Vec<TermId> = aliases.vars.iter().copied().filter(|v| kept(*v)).collect();
        vars.sort_unstable();
        // Variables without bounds and equations are left out.
        let mut shared: FxHashMap<usize, usize> = FxHashMap::default();
        for &var in &vars {
            *shared.entry(node(var, false).0 / 2).or_default() += 1;
        }
        let says = |&var: &TermId| {
            let at = node(var, false).0 & !1;
            let bound = |i: usize| (0..matrix.size).any(|j| j != i && matrix.get(i, j) != NONE);
            shared[&(at / 2)] > 1 || bound(at) || bound(at + 1)
        };
        vars.retain(says);
        if vars.len() > self.width {
            return Some(Octagon::default());
        }
        let mut result = Matrix::new(vars.iter().map(|v| self.whole(*v)).collect());
        for i in 0..result.size {
            for j in 0..result.size {
                let (from, below) = node(vars[i / 2], i % 2 == 1);
                let (to, above) = node(vars[j / 2], j % 2 == 1);
                let bound = plus(matrix.get(from, to), above - below);
                let bound = if i == j { 0 } else { bound };
                result.entries[i * result.size + j] = bound;
            }
        }
        let result = Octagon {
            vars,
            matrix: result,
            open: false,
        };
        Some(self.restricted(&result, |_| true))
    }
}

impl NonemptyDomain for Octagons {
    type Set = Octagon;

    fn terms(&self) -> &TermStore {
        &self.terms
    }

    fn all(&self) -> Self::Set {
        Octagon::default()
    }

    fn transfer(
        &self,
        inputs: &[&Self::Set],
        cube: &Cube,
        keep: Option<&FxHashSet<TermId>>,
    ) -> Option<Self::Set> {
        let mut closed = Vec::with_capacity(inputs.len());
        for input in inputs {
            closed.push(self.closed(input)?);
        }
        let kept = |var: TermId| keep.map_or_else(|| self.terms.is_var(var), |k| k.contains(&var));
        self.transfer_small(&closed, cube, kept)
    }

    fn join(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        let (x, y) = match (self.closed(a), self.closed(b)) {
            (Some(x), Some(y)) => (x, y),
            (x, y) => return x.or(y).map(Cow::into_owned),
        };
        Some(self.combine(&x, &y, false, |a, b, _| a.max(b)))
    }

    fn widen(&self, a: &Self::Set, b: &Self::Set) -> Option<Self::Set> {
        let Some(b) = self.closed(b) else {
            return Some(a.clone());
        };
        // An entry of a single variable is twice its bound.
        let next = |value: i64, factor: i64| {
            let at = self.thresholds.partition_point(|t| factor * t < value);
            self.thresholds.get(at).map_or(NONE, |t| factor * t)
        };
        let widened = |old: i64, new: i64, single: bool| match (old, new) {
            (NONE, _) | (_, NONE) => NONE,
            (old, new) if new <= old => old,
            (_, new) => next(new, if single { 2 } else { 1 }),
        };
        Some(self.combine(a, &b, true, widened))
    }

    fn entails(&self, a: &Self::Set, b: &Self::Set) -> bool {
        let Some(a) = self.closed(a) else {
            return true;
        };
        let nodes: Option<Vec<usize>> = b
            .vars
            .iter()
            .map(|v| a.vars.binary_search(v).ok())
            .collect();
        let Some(places) = nodes else { return false };
        let at = |i: usize| 2 * places[i / 2] + i % 2;
        let size = b.matrix.size;
        (0..size).all(|i| (0..size).all(|j| a.matrix.get(at(i), at(j)) <= b.matrix.get(i, j)))
    }

    fn rename(&self, set: &Self::Set, map: &FxHashMap<TermId, TermId>) -> Option<Self::Set> {
        let name = |v: &TermId| map.get(v).copied().unwrap_or(*v);
        let mut order: Vec<(TermId, usize)> = set.vars.iter().map(name).zip(0..).collect();
        order.sort_unstable();
        let old = &set.matrix;
        let mut matrix = Matrix::new(order.iter().map(|o| old.integral[o.1]).collect());
        for i in 0..matrix.size {
            for j in 0..matrix.size {
                let entry = old.get(2 * order[i / 2].1 + i % 2, 2 * order[j / 2].1 + j % 2);
                matrix.entries[i * matrix.size + j] = entry;
            }
        }
        Some(Octagon {
            vars: order.into_iter().map(|o| o.0).collect(),
            matrix,
            open: set.open,
        })
    }

    fn facts(&self, set: &Self::Set) -> Vec<Fact> {
        let closed = self.closed(set);
        closed.map_or_else(Vec::new, |octagon| self.reduced(&octagon))
    }

    fn formula(&self, set: &Self::Set) -> Vec<TermId> {
        let Some(octagon) = self.closed(set) else {
            return vec![TermId::FALSE];
        };
        let facts = self.reduced(&octagon);
        facts
            .iter()
            .filter_map(|f| f.formula(&self.terms))
            .collect()
    }
}
