//! Transitive relations from one pass through a loop.
//!
//! The literals of the pass are projected, guided by the model, three times (Frohn and Giesl, 2025):
//! to the differences `d` that it makes, to the arguments before it and to those after it. A literal
//! `a·d ≤ c` of the first becomes `a·(x' - x) ≤ n·c` for some `n ≥ 1`, and the two others are kept.
//! Then `n` is eliminated: by an equation for it where there is one, else by Fourier and Motzkin's
//! method as if it were real.
//!
//! Deviations: the paper keeps `n`, we need relations without quantifiers, because their negations
//! are asserted; and an argument of any sort that the pass carries over stays equal.
//!
//! Invariant: the relation is transitive and the pass is one of its instances. Sums of the
//! constraints' solutions are solutions (of `n`'s too), what is said of the states before and after
//! needs no sum, and equality is transitive.

use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::smt::project;
use crate::term::{Assignment, BigInt, Evaluator, Linear, Op, Rational, SortId, TermId, TermStore};

/// One pass through a loop.
pub(super) struct Pass<'a> {
    pub literals: &'a [TermId],
    /// The arguments before.
    pub before: &'a [TermId],
    /// The arguments after, other variables.
    pub after: &'a [TermId],
    /// Values of all variables.
    pub values: &'a Assignment,
}

/// A sum of multiples of differences, by position of the argument.
type Sum = Vec<(usize, Rational)>;

/// How `a·d` stands to `n·bound`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relation {
    Le,
    Lt,
    Eq,
}

/// `Σ coefficient · (after - before) ⋈ n·bound`, by position of the argument.
#[derive(Clone, Debug)]
struct Row {
    sum: Sum,
    relation: Relation,
    bound: Rational,
}

/// `Σ coefficient · (after - before) ≡ n·rest (mod modulus)`.
struct Congruence {
    sum: Sum,
    modulus: BigInt,
    rest: BigInt,
}

impl Pass<'_> {
    /// Literals over `before` and `after` of a transitive relation that has the pass as an instance.
    /// `None` when the model leaves something open.
    pub fn transitive(&self, terms: &TermStore) -> Option<Vec<TermId>> {
        let mut found = self.carried_over(terms);
        let (rows, congruences) = self.differences(terms)?;
        self.recurrences(terms, rows, congruences, &mut found);
        for kept in [self.before, self.after] {
            let kept: FxHashSet<TermId> = kept.iter().copied().collect();
            let vars = terms.free_vars(self.literals);
            let eliminate: Vec<TermId> = vars.into_iter().filter(|v| !kept.contains(v)).collect();
            found.extend(project(terms, self.literals, &eliminate, self.values)?.literals);
        }
        let mut seen = FxHashSet::default();
        found.retain(|&l| l != TermId::TRUE && seen.insert(l));
        let mut model = Evaluator::new(terms, self.values);
        found
            .iter()
            .all(|&l| model.value(l) == Some(TermId::TRUE))
            .then_some(found)
    }

    /// Equations for the arguments that equations of the pass carry over, of sorts without
    /// differences.
    fn carried_over(&self, terms: &TermStore) -> Vec<TermId> {
        let mut parent: FxHashMap<TermId, TermId> = FxHashMap::default();
        for &literal in self.literals {
            if *terms.op(literal) == Op::Eq
                && let [a, b] = *terms.args(literal)
                && terms.is_var(a)
                && terms.is_var(b)
            {
                let (a, b) = (root(&parent, a), root(&parent, b));
                if a != b {
                    parent.insert(a, b);
                }
            }
        }
        let pairs = self.before.iter().zip(self.after);
        pairs
            .filter(|&(&a, _)| !is_number(terms, a))
            .filter(|&(&a, &b)| root(&parent, a) == root(&parent, b))
            .map(|(&a, &b)| terms.eq(a, b))
            .collect()
    }

    /// The projection to the differences.
    fn differences(&self, terms: &TermStore) -> Option<(Vec<Row>, Vec<Congruence>)> {
        let mut map = FxHashMap::default();
        let mut values = self.values.clone();
        let mut position: FxHashMap<TermId, usize> = FxHashMap::default();
        for (index, (&before, &after)) in self.before.iter().zip(self.after).enumerate() {
            if !is_number(terms, before) {
                continue;
            }
            let sort = terms.sort_of(before);
            let difference = terms.var(&format!("difference!{index}!{}", sort.0), sort);
            let (old, new) = (terms.numeral(*values.get(&before)?)?, values.get(&after)?);
            let value = terms.numeral(*new)? - old;
            values.insert(difference, terms.number(&value, sort));
            position.insert(difference, index);
            map.insert(after, terms.add(&[before, difference]));
        }
        if position.is_empty() {
            return Some((Vec::new(), Vec::new()));
        }
        let mut memo = FxHashMap::default();
        let literals: Vec<TermId> = self
            .literals
            .iter()
            .map(|&l| terms.substitute_with(l, &map, &mut memo))
            .collect();
        let vars = terms.free_vars(&literals);
        let eliminate: Vec<TermId> = vars
            .into_iter()
            .filter(|v| !position.contains_key(v))
            .collect();
        let projected = project(terms, &literals, &eliminate, &values)?.literals;
        let (mut rows, mut congruences) = (Vec::new(), Vec::new());
        for literal in projected {
            read(terms, literal, &position, &mut rows, &mut congruences);
        }
        Some((rows, congruences))
    }

    /// The rows without `n`, as literals.
    fn recurrences(
        &self,
        terms: &TermStore,
        rows: Vec<Row>,
        congruences: Vec<Congruence>,
        found: &mut Vec<TermId>,
    ) {
        let pivot = rows
            .iter()
            .filter(|r| r.relation == Relation::Eq && !r.bound.is_zero())
            .min_by_key(|r| r.bound.abs())
            .cloned();
        if let Some(pivot) = pivot {
            // n = pivot.sum / pivot.bound
            let count: Sum = pivot
                .sum
                .iter()
                .map(|(i, c)| (*i, c / &pivot.bound))
                .collect();
            let minus = |n: &Rational| -n;
            for row in &rows {
                let sum = combine(&row.sum, &count, &minus(&row.bound));
                found.push(self.atom(terms, row.relation, &sum, &Rational::zero()));
            }
            let down: Sum = count.iter().map(|(i, c)| (*i, -c)).collect();
            found.push(self.atom(terms, Relation::Le, &down, &minus(&Rational::one())));
            if self.all_int(terms, &count) {
                self.congruent(terms, &count, &BigInt::one(), found);
            }
            for row in &congruences {
                let rest = Rational::from_integer(-&row.rest);
                let sum = combine(&row.sum, &count, &rest);
                self.congruent(terms, &sum, &row.modulus, found);
            }
            return;
        }
        for row in congruences.iter().filter(|c| c.rest.is_zero()) {
            self.congruent(terms, &row.sum, &row.modulus, found);
        }
        // sum ≤ n·bound: a lower bound of n when the bound is positive, an upper one when negative.
        let scaled =
            |row: &Row| -> Sum { row.sum.iter().map(|(i, c)| (*i, c / &row.bound)).collect() };
        let mut lower: Vec<(Sum, Rational, bool)> = vec![(Vec::new(), Rational::one(), false)];
        let mut upper: Vec<(Sum, bool)> = Vec::new();
        for row in &rows {
            let strict = row.relation == Relation::Lt;
            if row.bound.is_zero() {
                found.push(self.atom(terms, row.relation, &row.sum, &Rational::zero()));
            } else if row.bound.is_positive() {
                lower.push((scaled(row), Rational::zero(), strict));
            } else {
                upper.push((scaled(row), strict));
            }
        }
        for (high, strict_high) in &upper {
            for (low, constant, strict_low) in &lower {
                // low + constant ≤ n ≤ high
                let sum = combine(low, high, &-Rational::one());
                let relation = if *strict_high || *strict_low {
                    Relation::Lt
                } else {
                    Relation::Le
                };
                found.push(self.atom(terms, relation, &sum, &-constant));
            }
        }
    }

    fn all_int(&self, terms: &TermStore, sum: &[(usize, Rational)]) -> bool {
        sum.iter()
            .all(|s| terms.sort_of(self.before[s.0]) == SortId::INT)
    }

    /// `Σ coefficient · (after - before)` in normal form, and its sort.
    fn sum(&self, terms: &TermStore, sum: &[(usize, Rational)]) -> (Linear, SortId) {
        let int = self.all_int(terms, sum);
        let mut total = Linear::constant(Rational::zero());
        for (index, coefficient) in sum {
            for (var, factor) in [
                (self.after[*index], coefficient.clone()),
                (self.before[*index], -coefficient),
            ] {
                let term = if int { var } else { terms.to_real(var) };
                total = total.add_scaled(&terms.linear(term), &factor);
            }
        }
        (total, if int { SortId::INT } else { SortId::REAL })
    }

    /// `sum ⋈ constant`.
    fn atom(
        &self,
        terms: &TermStore,
        relation: Relation,
        sum: &[(usize, Rational)],
        constant: &Rational,
    ) -> TermId {
        let (mut linear, sort) = self.sum(terms, sum);
        linear.constant -= constant;
        match relation {
            Relation::Le => terms.linear_atom(Op::Le, &linear, sort),
            Relation::Lt => terms.not(terms.linear_atom(Op::Ge, &linear, sort)),
            Relation::Eq => terms.linear_atom(Op::Eq, &linear, sort),
        }
    }

    /// That the sum is a multiple of `modulus`; its coefficients may be fractions.
    fn congruent(
        &self,
        terms: &TermStore,
        sum: &[(usize, Rational)],
        modulus: &BigInt,
        found: &mut Vec<TermId>,
    ) {
        let lcm = sum.iter().fold(BigInt::one(), |l, s| l.lcm(s.1.denom()));
        let factor = Rational::from_integer(lcm.clone());
        let whole: Sum = sum.iter().map(|(i, c)| (*i, c * &factor)).collect();
        let modulus = modulus * lcm;
        if modulus.is_one() || whole.is_empty() || !self.all_int(terms, &whole) {
            return;
        }
        let term = terms.from_linear(&self.sum(terms, &whole).0, SortId::INT);
        found.push(terms.eq(terms.modulo(term, terms.int(modulus)), terms.int(0)));
    }
}

/// Whether differences of a term make sense.
pub(super) fn is_number(terms: &TermStore, term: TermId) -> bool {
    matches!(terms.sort_of(term), SortId::INT | SortId::REAL)
}

fn root(parent: &FxHashMap<TermId, TermId>, mut term: TermId) -> TermId {
    while let Some(&next) = parent.get(&term) {
        term = next;
    }
    term
}

/// `left + factor · right`, without zeros.
fn combine(left: &[(usize, Rational)], right: &[(usize, Rational)], factor: &Rational) -> Sum {
    let mut sum: FxHashMap<usize, Rational> = left.iter().cloned().collect();
    for (index, coefficient) in right {
        *sum.entry(*index).or_insert_with(Rational::zero) += coefficient * factor;
    }
    let mut sum: Sum = sum.into_iter().filter(|s| !s.1.is_zero()).collect();
    sum.sort_unstable_by_key(|s| s.0);
    sum
}

/// Reads a literal over differences; what is no row is left out.
fn read(
    terms: &TermStore,
    literal: TermId,
    position: &FxHashMap<TermId, usize>,
    rows: &mut Vec<Row>,
    congruences: &mut Vec<Congruence>,
) {
    let sum = |linear: &Linear| -> Option<Sum> {
        linear
            .monomials
            .iter()
            .map(|(t, c)| Some((*position.get(t)?, c.clone())))
            .collect()
    };
    if let Some((linear, modulus)) = congruence(terms, literal) {
        if let Some(sum) = sum(&linear) {
            let rest = (-linear.constant).to_integer();
            congruences.push(Congruence { sum, modulus, rest });
        }
        return;
    }
    let Some((linear, relation)) = inequality(terms, literal) else {
        return;
    };
    if let Some(sum) = sum(&linear) {
        rows.push(Row {
            sum,
            relation,
            bound: -linear.constant,
        });
    }
}

/// A literal `linear ≡ 0 (mod modulus)` over Int.
pub(super) fn congruence(terms: &TermStore, literal: TermId) -> Option<(Linear, BigInt)> {
    if *terms.op(literal) != Op::Eq {
        return None;
    }
    let [left, right] = *terms.args(literal) else {
        return None;
    };
    for (side, other) in [(left, right), (right, left)] {
        if *terms.op(side) == Op::Mod
            && let Some(rest) = terms.as_int(other)
            && let Some(modulus) = terms.as_int(terms.args(side)[1])
            && !modulus.is_zero()
        {
            let mut linear = terms.linear(terms.args(side)[0]);
            linear.constant -= Rational::from_integer(rest.clone());
            let whole = linear.monomials.iter().all(|m| m.1.is_integer());
            return whole.then(|| (linear, modulus.abs()));
        }
    }
    None
}

/// A literal as `linear ⋈ 0`, the direction made one.
fn inequality(terms: &TermStore, literal: TermId) -> Option<(Linear, Relation)> {
    let (atom, positive) = match *terms.op(literal) {
        Op::Not => (terms.args(literal)[0], false),
        _ => (literal, true),
    };
    let op = terms.op(atom);
    if !matches!(op, Op::Le | Op::Ge | Op::Eq) {
        return None;
    }
    let [left, right] = *terms.args(atom) else {
        return None;
    };
    if !is_number(terms, left) {
        return None;
    }
    let minus = -Rational::one();
    let difference = terms.linear(left).add_scaled(&terms.linear(right), &minus);
    Some(match (op, positive) {
        (Op::Eq, true) => (difference, Relation::Eq),
        (Op::Le, true) => (difference, Relation::Le),
        (Op::Ge, true) => (difference.scaled(&minus), Relation::Le),
        (Op::Le, false) => (difference.scaled(&minus), Relation::Lt),
        (Op::Ge, false) => (difference, Relation::Lt),
        _ => return None,
    })
}

/// Whether a literal is linear over the variables of `changing`, or without them: then a set of such
/// literals that holds at two points holds between them.
pub(super) fn is_convex(terms: &TermStore, literal: TermId, changing: &FxHashSet<TermId>) -> bool {
    if !terms
        .free_vars(&[literal])
        .iter()
        .any(|v| changing.contains(v))
    {
        return true;
    }
    let Some((linear, _)) = inequality(terms, literal) else {
        return false;
    };
    linear.monomials.iter().all(|(term, _)| {
        let inner = match terms.op(*term) {
            Op::ToReal => terms.args(*term)[0],
            _ => *term,
        };
        terms.is_var(inner)
            || !terms
                .free_vars(&[inner])
                .iter()
                .any(|v| changing.contains(v))
    })
}

/// An equation of numbers as `linear = 0`.
pub(super) fn equation(terms: &TermStore, literal: TermId) -> Option<Linear> {
    inequality(terms, literal)
        .filter(|r| r.1 == Relation::Eq)
        .map(|r| r.0)
}
