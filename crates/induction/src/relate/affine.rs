//! Equations between arguments of two facts, from the affine hulls of joined tables (Karr 1976).
//!
//! Invariant: every candidate holds of the facts of the tables that were looked at.

use num_traits::{One, ToPrimitive, Zero};
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::literal::{Column, Lemma, Literal, Origin, Relation, column};
use super::space::Space;
use alphorn_chc::PredicateId;
use alphorn_term::run::Context;
use alphorn_term::{Rational, SortId};

/// A linear equation: factors of columns, and the constant of a sum that is zero.
type Equation = (Vec<i64>, i64);

/// The equations that all rows satisfy, one for each column that the others determine.
pub fn equations(rows: &[Vec<i64>]) -> Vec<Equation> {
    let Some(first) = rows.first() else {
        return Vec::new();
    };
    let width = first.len();
    let mut matrix: Vec<Vec<Rational>> = Vec::new();
    let mut pivots: Vec<usize> = Vec::new();
    let mut residues = Residues::default();
    for row in &rows[1..] {
        let differences = row.iter().zip(first);
        let differences = differences.map(|(a, b)| i128::from(*a) - i128::from(*b));
        let differences: Vec<i128> = differences.collect();
        if !residues.add(&differences) {
            continue;
        }
        let mut row: Vec<Rational> = differences
            .into_iter()
            .map(|x| Rational::from_integer(x.into()))
            .collect();
        for (own, &pivot) in matrix.iter().zip(&pivots) {
            let factor = row[pivot].clone();
            subtract(&mut row, own, &factor);
        }
        let Some(pivot) = row.iter().position(|x| !x.is_zero()) else {
            continue;
        };
        let scale = Rational::one() / row[pivot].clone();
        row.iter_mut().for_each(|x| *x *= scale.clone());
        for own in &mut matrix {
            let factor = own[pivot].clone();
            subtract(own, &row, &factor);
        }
        matrix.push(row);
        pivots.push(pivot);
        if pivots.len() == width {
            return Vec::new();
        }
    }
    let mut found = Vec::new();
    for free in (0..width).filter(|at| !pivots.contains(at)) {
        let mut factors = vec![Rational::zero(); width];
        factors[free] = Rational::one();
        for (row, &pivot) in matrix.iter().zip(&pivots) {
            factors[pivot] = -row[free].clone();
        }
        let denominator = factors.iter().fold(alphorn_term::BigInt::one(), |all, x| {
            num_integer::Integer::lcm(&all, x.denom())
        });
        let denominator = Rational::from_integer(denominator);
        let whole = factors.iter().map(|x| (x * &denominator).to_i64());
        let Some(whole) = whole.collect::<Option<Vec<i64>>>() else {
            continue;
        };
        let constant = whole
            .iter()
            .zip(first)
            .try_fold(0i64, |sum, (a, b)| sum.checked_sub(a.checked_mul(*b)?));
        let equation = constant.map(|constant| (whole, constant));
        found.extend(equation.filter(|equation| rows.iter().all(|row| satisfies(row, equation))));
    }
    found
}

/// Lemmas with the equations that all tuples of facts satisfy for which some premises hold, and which
/// speak of an output.
pub fn with_equations(
    space: &Space<'_>,
    slots: &[PredicateId],
    premises: &[Literal],
) -> Vec<Lemma> {
    if slots.len() > LIMITS.slots || !slots.iter().all(|&p| space.tables.knows(p)) {
        return Vec::new();
    }
    let mut columns: Vec<Column> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    let mut first = 0;
    for (slot, &predicate) in slots.iter().enumerate() {
        for at in integers(space, predicate) {
            columns.push(column(slot, at));
            places.push(first + at);
        }
        first += space.arity(predicate);
    }
    let tuples = space.tuples(slots, premises, 80);
    if tuples.len() < columns.len() + 4 {
        return Vec::new();
    }
    let row = |tuple: &Vec<i64>| places.iter().map(|&at| tuple[at]).collect();
    let rows: Vec<Vec<i64>> = tuples.iter().map(row).collect();
    let mut found = Vec::new();
    for (factors, constant) in equations(&rows) {
        let parts = columns.iter().copied().zip(factors.iter().copied());
        let parts: Vec<(Column, i64)> = parts.filter(|part| part.1 != 0).collect();
        if largest(&factors) <= 12 && parts.iter().any(|&(c, _)| space.is_output(slots, c)) {
            let equation = Literal::sum(Relation::Equal, parts, constant);
            let (slots, premises) = (slots.to_vec(), premises.to_vec());
            found.push(Lemma::new(slots, premises, vec![equation], Origin::Affine));
        }
    }
    found
}

fn satisfies(row: &[i64], (factors, constant): &Equation) -> bool {
    let products = factors.iter().zip(row);
    let mut products = products.map(|(a, b)| i128::from(*a) * i128::from(*b));
    let sum = products.try_fold(i128::from(*constant), |sum, x| sum.checked_add(x));
    sum == Some(0)
}

/// Rows in echelon form modulo a prime: a row that is independent of the others modulo the prime is
/// so over the rationals, and nearly always the other way round. Most rows are found dependent here,
/// without arithmetic on large numbers.
#[derive(Default)]
struct Residues {
    rows: Vec<(usize, Vec<u64>)>,
}

impl Residues {
    const PRIME: u64 = (1 << 61) - 1;

    fn product(a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(Self::PRIME)) as u64
    }

    /// By Fermat's little theorem.
    fn inverse(a: u64) -> u64 {
        let (mut result, mut square, mut exponent) = (1, a, Self::PRIME - 2);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = Self::product(result, square);
            }
            square = Self::product(square, square);
            exponent >>= 1;
        }
        result
    }

    /// Adds a row; false if the others determine it.
    fn add(&mut self, row: &[i128]) -> bool {
        let mut row: Vec<u64> = row
            .iter()
            .map(|x| x.rem_euclid(i128::from(Self::PRIME)) as u64)
            .collect();
        for (pivot, own) in &self.rows {
            let factor = Self::PRIME - row[*pivot];
            if factor < Self::PRIME {
                for (x, y) in row.iter_mut().zip(own) {
                    *x = (*x + Self::product(factor, *y)) % Self::PRIME;
                }
            }
        }
        let Some(pivot) = row.iter().position(|&x| x != 0) else {
            return false;
        };
        let scale = Self::inverse(row[pivot]);
        row.iter_mut().for_each(|x| *x = Self::product(*x, scale));
        self.rows.push((pivot, row));
        true
    }
}

fn subtract(row: &mut [Rational], other: &[Rational], factor: &Rational) {
    if factor.is_zero() {
        return;
    }
    for (x, y) in row.iter_mut().zip(other) {
        *x -= factor * y;
    }
}

/// The largest factor.
fn largest(factors: &[i64]) -> i64 {
    factors.iter().map(|f| f.abs()).max().unwrap_or(0)
}

/// Whether a predicate has few arguments, and only integers as outputs.
fn is_small(space: &Space<'_>, predicate: PredicateId) -> bool {
    let sorts = space.sorts(predicate);
    space.tables.knows(predicate)
        && !space.outputs(predicate).is_empty()
        && (2..=5).contains(&sorts.len())
        && space
            .outputs(predicate)
            .iter()
            .all(|&at| sorts[at] == SortId::INT)
}

/// Candidates about single facts with a constant input, and about pairs of facts whose inputs are equal
/// or one apart; fewer when the budget ends.
pub fn affine(
    space: &Space<'_>,
    predicates: &[PredicateId],
    pairs: &[(PredicateId, PredicateId)],
    cx: &Context,
) -> Vec<Lemma> {
    let mut found = Vec::new();
    let small: Vec<PredicateId> = predicates
        .iter()
        .copied()
        .filter(|&p| is_small(space, p))
        .collect();
    for &predicate in &small {
        under_guards(space, predicate, &mut found);
        of_one(space, predicate, &mut found);
    }
    let mut all: Vec<(PredicateId, PredicateId)> = small.iter().map(|&p| (p, p)).collect();
    all.extend(pairs.iter().filter(|(p, q)| p != q));
    for &(p, q) in &all {
        if is_small(space, p) && is_small(space, q) && found.len() < LIMITS.affine {
            of_two(space, (p, q), cx, &mut found);
        }
    }
    found.truncate(LIMITS.affine);
    found
}

/// The arguments of a predicate that are integers.
fn integers(space: &Space<'_>, predicate: PredicateId) -> Vec<usize> {
    let sorts = space.sorts(predicate);
    (0..sorts.len())
        .filter(|&at| sorts[at] == SortId::INT)
        .collect()
}

/// Candidates about single facts whose inputs are bounded or ordered.
fn under_guards(space: &Space<'_>, predicate: PredicateId, found: &mut Vec<Lemma>) {
    let mut inputs = integers(space, predicate);
    inputs.retain(|at| !space.outputs(predicate).contains(at));
    let mut guards: Vec<Vec<Literal>> = vec![Vec::new()];
    for bound in [0, 1] {
        let bounds = inputs
            .iter()
            .map(|&at| Literal::at_least(column(0, at), bound));
        guards.extend(bounds.map(|literal| vec![literal]));
    }
    for &low in &inputs {
        let others = inputs.iter().filter(|&&high| high != low);
        let order = |&high: &usize| Literal::ordered(column(0, high), column(0, low), 0);
        guards.extend(others.map(|high| vec![order(high)]));
    }
    for guard in guards {
        let mut lemmas = with_equations(space, &[predicate], &guard);
        lemmas.retain(|lemma| space.holds(lemma));
        if !lemmas.is_empty() {
            found.extend(lemmas);
            return;
        }
    }
}

fn of_one(space: &Space<'_>, predicate: PredicateId, found: &mut Vec<Lemma>) {
    let mut constants: Vec<i64> = space.constants.iter().copied().collect();
    constants.extend([0, 1, 2]);
    constants.retain(|c| (-2..=10).contains(c));
    constants.sort_unstable();
    constants.dedup();
    let rows = space.tables.rows(predicate);
    let ints = integers(space, predicate);
    for input in space
        .inputs(predicate)
        .into_iter()
        .filter(|at| ints.contains(at))
    {
        for &constant in &constants {
            let others: Vec<usize> = ints.iter().copied().filter(|&at| at != input).collect();
            let chosen = rows.iter().take(600).filter(|row| row[input] == constant);
            let chosen: Vec<Vec<i64>> = chosen
                .take(60)
                .map(|row| others.iter().map(|&at| row[at]).collect())
                .collect();
            if chosen.len() < 6 {
                continue;
            }
            for (factors, rest) in equations(&chosen) {
                let parts: Vec<(Column, i64)> = others
                    .iter()
                    .zip(&factors)
                    .map(|(&at, &factor)| (column(0, at), factor))
                    .collect();
                let outputs = space.outputs(predicate);
                let has_output = others
                    .iter()
                    .zip(&factors)
                    .any(|(at, &factor)| factor != 0 && outputs.contains(at));
                if largest(&factors) > 12 || !has_output {
                    continue;
                }
                let fixed = Literal::sum(Relation::Equal, [(column(0, input), 1)], -constant);
                let equation = Literal::sum(Relation::Equal, parts, rest);
                let lemma =
                    Lemma::new(vec![predicate], vec![fixed], vec![equation], Origin::Affine);
                if space.holds(&lemma) {
                    found.push(lemma);
                }
            }
        }
    }
}

/// For each input of the second fact: the input of the first that it equals, up to a distance.
type Matching = Vec<Option<(usize, i64)>>;

fn of_two(
    space: &Space<'_>,
    (p, q): (PredicateId, PredicateId),
    cx: &Context,
    found: &mut Vec<Lemma>,
) {
    let (inputs, others) = (space.inputs(p), space.inputs(q));
    let (own, sorts) = (space.sorts(p), space.sorts(q));
    let mut matchings: Vec<Matching> = vec![Vec::new()];
    for &other in &others {
        let sort = sorts[other];
        let distances: &[i64] = if sort == SortId::INT {
            &[0, 1, -1]
        } else {
            &[0]
        };
        let longer = |m: &Matching| {
            let choices = inputs.iter().filter(|&&i| own[i] == sort);
            let choices = choices.flat_map(|&i| distances.iter().map(move |&d| Some((i, d))));
            let longer = std::iter::once(None).chain(choices);
            let longer = longer.map(|choice| {
                let mut longer = m.clone();
                longer.push(choice);
                longer
            });
            longer.collect::<Vec<_>>()
        };
        matchings = matchings.iter().flat_map(longer).collect();
    }
    let plain: Matching = inputs.iter().map(|&i| Some((i, 0))).collect();
    let moved = |matching: &Matching| matching.iter().flatten().filter(|m| m.1 != 0).count();
    matchings.retain(|matching| {
        let mut used: Vec<usize> = matching.iter().flatten().map(|m| m.0).collect();
        let count = used.len();
        used.sort_unstable();
        used.dedup();
        let backward = matching.iter().flatten().any(|m| m.1 < 0);
        let is_same = p == q && (backward || *matching == plain);
        count > 0 && used.len() == count && moved(matching) <= 1 && !is_same
    });
    if matchings.len() > LIMITS.affine_matchings {
        // Those that keep the order of the inputs come first.
        matchings.sort_by_key(|matching| {
            let input = |m: &Option<(usize, i64)>| m.map(|m| m.0);
            let pairs = matching.iter().zip(&plain);
            let other = pairs.filter(|(m, own)| input(m) != input(own)).count();
            (other, moved(matching))
        });
        matchings.truncate(LIMITS.affine_matchings);
    }
    for matching in matchings {
        if found.len() >= LIMITS.affine || cx.stop().is_some() {
            return;
        }
        with_matching(space, (p, q), &matching, found);
    }
}

fn with_matching(
    space: &Space<'_>,
    (p, q): (PredicateId, PredicateId),
    matching: &Matching,
    found: &mut Vec<Lemma>,
) {
    let (inputs, others) = (space.inputs(p), space.inputs(q));
    let slots = vec![p, q];
    let matched: Vec<Literal> = others
        .iter()
        .zip(matching)
        .filter_map(|(&at, matched)| {
            let (input, distance) = (*matched)?;
            let sort = space.sorts(q)[at];
            if sort != SortId::INT {
                return Some(Literal::equal(column(0, input), column(1, at), sort));
            }
            let parts = [(column(1, at), 1), (column(0, input), -1)];
            Some(Literal::sum(Relation::Equal, parts, -distance))
        })
        .collect();
    let left = space.arity(p);
    // Matched inputs of the second fact are known.
    let is_matched = |at: usize| {
        let position = others.iter().position(|&o| o == at);
        position.is_some_and(|position| matching[position].is_some())
    };
    let (first, second) = (integers(space, p), integers(space, q));
    let mut columns: Vec<Column> = first.iter().map(|&at| column(0, at)).collect();
    let unmatched = second.iter().filter(|&&at| !is_matched(at));
    columns.extend(unmatched.map(|&at| column(1, at)));
    let mut inputs: Vec<Column> = inputs.iter().map(|&at| column(0, at)).collect();
    inputs.retain(|c| first.contains(&usize::from(c.arg)));
    let mut all = inputs.clone();
    let others = others.iter().filter(|at| second.contains(at));
    all.extend(others.map(|&at| column(1, at)));
    let bounded = |bound: i64| all.iter().map(|&c| Literal::at_least(c, bound)).collect();
    let mut guards: Vec<Vec<Literal>> = vec![Vec::new(), bounded(0), bounded(1)];
    for &low in &inputs {
        for &high in inputs.iter().filter(|&&high| high != low) {
            guards.push(vec![Literal::ordered(high, low, 0)]);
        }
    }
    for guard in guards {
        let premises = [&matched[..], &guard].concat();
        let tuples = space.tuples(&slots, &premises, 80);
        if tuples.len() < columns.len() + 4 {
            continue;
        }
        let place = |c: &Column| usize::from(c.slot) * left + usize::from(c.arg);
        let rows: Vec<Vec<i64>> = tuples
            .iter()
            .map(|tuple| columns.iter().map(|c| tuple[place(c)]).collect())
            .collect();
        let before = found.len();
        for (factors, constant) in equations(&rows) {
            let parts: FxHashMap<Column, i64> = columns
                .iter()
                .copied()
                .zip(factors.iter().copied())
                .filter(|part| part.1 != 0)
                .collect();
            let outputs = |slot: u8| {
                let mut of = parts.keys().filter(|c| c.slot == slot);
                of.any(|&c| space.is_output(&slots, c))
            };
            if largest(&factors) > 6 || !outputs(0) || !outputs(1) {
                continue;
            }
            let equation = Literal::sum(Relation::Equal, parts, constant);
            let lemma = Lemma::new(
                slots.clone(),
                premises.clone(),
                vec![equation],
                Origin::Affine,
            );
            if space.holds(&lemma) {
                found.push(lemma);
            }
        }
        if found.len() > before {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_of_rows() {
        let rows: Vec<Vec<i64>> = (0..6)
            .flat_map(|x| (0..6).map(move |y| vec![x, y, 2 * x - y + 3, 5]))
            .collect();
        let found = equations(&rows);
        assert_eq!(found.len(), 2);
        for (factors, constant) in &found {
            assert!(factors.iter().any(|f| *f != 0));
            for row in &rows {
                let sum: i64 = row.iter().zip(factors).map(|(x, f)| x * f).sum();
                assert_eq!(sum + constant, 0);
            }
        }
        assert!(equations(&[vec![0, 0], vec![1, 0], vec![0, 1]]).is_empty());
        assert!(equations(&[]).is_empty());
    }
}
