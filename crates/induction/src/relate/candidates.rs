//! Candidates that are read off the tables: bounds of one fact, functionality and symmetry, and orders
//! of two facts.
//!
//! Invariant: a candidate holds of the facts of the tables that were looked at, except those about
//! predicates without tables.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::literal::{Column, Key, Lemma, Literal, Origin, Relation, column};
use super::space::Space;
use super::tables::Row;
use alphorn_chc::PredicateId;
use alphorn_term::Random;
use alphorn_term::SortId;

/// Candidates about one fact of a predicate.
pub fn of_one_fact(space: &Space<'_>, predicate: PredicateId) -> Vec<Lemma> {
    let mut found = equalities(space, predicate);
    let rows = space.tables.rows(predicate);
    if !rows.is_empty() {
        found.extend(bounds(space, predicate, rows));
    }
    found
}

/// Equalities and disequalities of arguments of one sort, Booleans, and implications between them.
fn equalities(space: &Space<'_>, predicate: PredicateId) -> Vec<Lemma> {
    let sorts = space.sorts(predicate);
    let mut atoms: Vec<Literal> = Vec::new();
    for right in 0..sorts.len() {
        for left in 0..right {
            let is_number = sorts[left] == SortId::INT;
            if sorts[left] == sorts[right] && (!is_number || sorts.len() == 2) {
                let equation = Literal::equal(column(0, left), column(0, right), sorts[left]);
                atoms.extend([equation.negated(space.terms()), equation]);
            }
        }
        if sorts[right] == SortId::BOOL {
            atoms.extend([true, false].map(|value| Literal::Flag(column(0, right), value)));
        }
    }
    atoms.truncate(LIMITS.one_fact / 4);
    let is_tested = space.tables.knows(predicate);
    if !is_tested {
        atoms.retain(|l| matches!(l, Literal::Same(_, _, true)));
    }
    let lemma = |premises: Vec<Literal>, conclusion: &Literal| {
        let conclusions = vec![conclusion.clone()];
        Lemma::new(vec![predicate], premises, conclusions, Origin::OneFact)
    };
    let mut found: Vec<Lemma> = atoms.iter().map(|atom| lemma(Vec::new(), atom)).collect();
    found.retain(|l| space.holds(l));
    let holds = |found: &[Lemma], atom: &Literal| {
        let mut known = found.iter().filter(|l| l.premises.is_empty());
        is_tested && known.any(|l| l.conclusions[0] == *atom)
    };
    for left in &atoms {
        for right in &atoms {
            let negated = left.negated(space.terms());
            if left == right || negated == *right || holds(&found, right) || holds(&found, &negated)
            {
                continue;
            }
            let candidate = lemma(vec![left.clone()], right);
            if space.holds(&candidate) && space.support(&candidate, 3) >= 3 {
                found.push(candidate);
            }
        }
    }
    found.truncate(LIMITS.one_fact / 2);
    found
}

/// Which rows satisfy a guard.
type Bits = Vec<u64>;

fn bits(rows: &[Row], guard: &[Literal]) -> Bits {
    let mut bits = vec![0; rows.len().div_ceil(64)];
    for (at, row) in rows.iter().enumerate() {
        let value = |c: Column| Some(row[usize::from(c.arg)]);
        if guard.iter().all(|l| l.holds(&value) == Some(true)) {
            bits[at / 64] |= 1 << (at % 64);
        }
    }
    bits
}

fn within(inner: &Bits, outer: &Bits) -> bool {
    inner.iter().zip(outer).all(|(a, b)| a & !b == 0)
}

/// A bound of a sum under a guard.
struct Bound {
    guard: Vec<Literal>,
    bits: usize,
    least: i64,
    count: u32,
}

/// The least values of sums of an output and an input, where small facts have them, too.
fn bounds(space: &Space<'_>, predicate: PredicateId, rows: &[Row]) -> Vec<Lemma> {
    let sorts = space.sorts(predicate);
    let ints: Vec<usize> = (0..sorts.len())
        .filter(|&at| sorts[at] == SortId::INT)
        .collect();
    let of = |list: Vec<usize>| list.into_iter().filter(|at| ints.contains(at)).collect();
    let mut outputs: Vec<usize> = of(space.outputs(predicate).to_vec());
    let inputs: Vec<usize> = of(space.inputs(predicate));
    if outputs.is_empty() {
        outputs.clone_from(&ints);
    }
    let guards = guards(space, &inputs);
    let all: Vec<Bits> = guards.iter().map(|guard| bits(rows, guard)).collect();
    let small = (rows.len() / 3).max(4).min(rows.len());
    let mut lemmas: Vec<(Lemma, u32)> = Vec::new();
    for direction in directions(space, &outputs, &inputs) {
        let sum = |row: &Row| {
            let parts = direction.iter();
            parts.fold(0i64, |sum, (c, factor)| {
                sum.saturating_add(row[usize::from(c.arg)].saturating_mul(*factor))
            })
        };
        let values: Vec<i64> = rows.iter().map(sum).collect();
        let mut bounds: Vec<Bound> = Vec::new();
        for (number, (guard, own)) in guards.iter().zip(&all).enumerate() {
            let count: u32 = own.iter().map(|word| word.count_ones()).sum();
            if count < 3 {
                continue;
            }
            let chosen = |at: &usize| own[at / 64] >> (at % 64) & 1 == 1;
            let least = |end: usize| (0..end).filter(chosen).map(|at| values[at]).min();
            let (Some(early), Some(least)) = (least(small), least(rows.len())) else {
                continue;
            };
            let is_known = |b: &Bound| {
                b.least >= least
                    && b.guard.len() < guard.len()
                    && b.guard.iter().all(|l| guard.contains(l))
            };
            if early == least && least.abs() <= 120 && !bounds.iter().any(is_known) {
                bounds.push(Bound {
                    guard: guard.clone(),
                    bits: number,
                    least,
                    count,
                });
            }
        }
        for (at, bound) in bounds.iter().enumerate() {
            let is_subsumed = bounds.iter().enumerate().any(|(other_at, other)| {
                other_at != at
                    && other.least >= bound.least
                    && within(&all[bound.bits], &all[other.bits])
                    && (other.least > bound.least
                        || other.count > bound.count
                        || other.guard.len() < bound.guard.len()
                        || (other.guard.len() == bound.guard.len() && other_at < at))
            });
            if !is_subsumed {
                let parts = direction.iter().copied();
                let conclusion = Literal::sum(Relation::AtLeast, parts, -bound.least);
                let guard = bound.guard.clone();
                let lemma = Lemma::new(vec![predicate], guard, vec![conclusion], Origin::OneFact);
                lemmas.push((lemma, bound.least.unsigned_abs() as u32));
            }
        }
    }
    space
        .terms()
        .charge(LIMITS.step_work * (all.len() * 8) as u32);
    lemmas.sort_by_key(|(lemma, least)| (lemma.premises.len(), *least));
    lemmas.truncate(LIMITS.one_fact);
    lemmas.into_iter().map(|(lemma, _)| lemma).collect()
}

/// Guards of at most two bounds or orders of inputs.
fn guards(space: &Space<'_>, inputs: &[usize]) -> Vec<Vec<Literal>> {
    let mut constants: BTreeSet<i64> = [0, 1, 2].into();
    // Small steps are negative where an equation is solved for another side.
    let own = space
        .constants
        .iter()
        .filter(|c| (-12..=12).contains(*c) && !(-2..0).contains(*c));
    for &c in own {
        constants.extend([c, c + 1]);
    }
    let mut single: Vec<Literal> = Vec::new();
    for &input in inputs {
        for &c in &constants {
            single.push(Literal::at_least(column(0, input), c));
            single.push(Literal::at_most(column(0, input), c));
        }
    }
    for &left in inputs {
        for &right in inputs.iter().filter(|&&right| right != left) {
            let order = |distance| Literal::ordered(column(0, left), column(0, right), distance);
            single.extend([order(0), order(1)]);
        }
    }
    let is_simple = |literal: &Literal| match literal {
        Literal::Sum { sum, constant, .. } => {
            sum.len() == 2 || (sum[0].1 == 1 && [0, -1].contains(constant))
        }
        _ => false,
    };
    let mut paired = single.clone();
    if paired.len() > 24 {
        paired.retain(is_simple);
    }
    let mut guards = vec![Vec::new()];
    guards.extend(single.iter().map(|l| vec![l.clone()]));
    for (at, left) in paired.iter().enumerate() {
        guards.extend(
            paired[at + 1..]
                .iter()
                .map(|right| vec![left.clone(), right.clone()]),
        );
    }
    if inputs.len() == 3 {
        for bound in [0, 1] {
            let all = inputs
                .iter()
                .map(|&at| Literal::at_least(column(0, at), bound));
            guards.push(all.collect());
        }
    }
    guards
}

/// Sums of an output and a multiple of an input, or of a multiple of an output and an input.
fn directions(space: &Space<'_>, outputs: &[usize], inputs: &[usize]) -> Vec<Vec<(Column, i64)>> {
    let factors = space
        .constants
        .iter()
        .copied()
        .filter(|k| (2..=10).contains(k));
    let factors: Vec<i64> = factors.collect();
    let mut found = Vec::new();
    for &output in outputs {
        let output = column(0, output);
        found.extend([1, -1].map(|sign| vec![(output, sign)]));
        for input in inputs
            .iter()
            .map(|&at| column(0, at))
            .filter(|&c| c != output)
        {
            for (a, b) in [(1, -1), (-1, 1), (1, 1), (-1, -1)] {
                found.push(vec![(output, a), (input, b)]);
            }
        }
    }
    for &output in outputs {
        let output = column(0, output);
        for input in inputs
            .iter()
            .map(|&at| column(0, at))
            .filter(|&c| c != output)
        {
            for &k in &factors {
                for (a, b) in [(k, -1), (-k, 1), (1, -k), (-1, k)] {
                    found.push(vec![(output, a), (input, b)]);
                }
            }
        }
    }
    found
}

/// Functionality, symmetry in two arguments, associativity, and injectivity.
pub fn functional(space: &Space<'_>, predicate: PredicateId) -> Vec<Lemma> {
    let sorts = space.sorts(predicate);
    let (outputs, inputs) = (space.outputs(predicate), space.inputs(predicate));
    let equal =
        |left: Column, right: Column| Literal::equal(left, right, sorts[usize::from(left.arg)]);
    let pair = vec![predicate; 2];
    let mut found = Vec::new();
    for &output in outputs {
        let premises = inputs.iter().map(|&at| equal(column(0, at), column(1, at)));
        let conclusion = equal(column(0, output), column(1, output));
        let (premises, conclusions) = (premises.collect(), vec![conclusion]);
        found.push(Lemma::new(
            pair.clone(),
            premises,
            conclusions,
            Origin::Functional,
        ));
    }
    let [output] = *outputs else {
        return found;
    };
    for (at, &x) in inputs.iter().enumerate() {
        for &y in &inputs[at + 1..] {
            if sorts[x] != sorts[y] {
                continue;
            }
            let swapped = |i: usize| match i {
                _ if i == x => y,
                _ if i == y => x,
                _ => i,
            };
            let premises = inputs
                .iter()
                .map(|&i| equal(column(0, i), column(1, swapped(i))));
            let conclusion = equal(column(0, output), column(1, output));
            let (premises, conclusions) = (premises.collect(), vec![conclusion]);
            found.push(Lemma::new(
                pair.clone(),
                premises,
                conclusions,
                Origin::Commutative,
            ));
        }
    }
    if let [a, b] = inputs[..]
        && sorts.iter().all(|&sort| sort == sorts[0])
    {
        // p(x, y, u) ∧ p(u, w, v) ∧ p(y, w, s) ∧ p(x, s, r) ⇒ v = r.
        let z = output;
        let premises = vec![
            equal(column(0, z), column(1, a)),
            equal(column(0, b), column(2, a)),
            equal(column(1, b), column(2, b)),
            equal(column(0, a), column(3, a)),
            equal(column(2, z), column(3, b)),
        ];
        let conclusions = vec![equal(column(1, z), column(3, z))];
        found.push(Lemma::new(
            vec![predicate; 4],
            premises,
            conclusions,
            Origin::Commutative,
        ));
    }
    for &x in &inputs {
        let others = (0..sorts.len()).filter(|&i| i != x);
        let premises = others.map(|i| equal(column(0, i), column(1, i))).collect();
        let conclusions = vec![equal(column(0, x), column(1, x))];
        found.push(Lemma::new(
            pair.clone(),
            premises,
            conclusions,
            Origin::Functional,
        ));
    }
    found.retain(|lemma| space.holds(lemma));
    found
}

/// How an input of the first fact relates to that of the second.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Equal,
    AtMost,
    AtLeast,
    Less,
}

/// Orders of outputs of two facts whose inputs are ordered.
pub fn pairs(space: &Space<'_>, p: PredicateId, q: PredicateId) -> Vec<Lemma> {
    let sorts = space.sorts(p);
    let outputs = space.outputs(p);
    let inputs = space.inputs(p);
    let fits = sorts == space.sorts(q)
        && outputs == space.outputs(q)
        && sorts.iter().all(|&sort| sort == SortId::INT)
        && space.tables.knows(p)
        && !outputs.is_empty()
        && inputs.len() <= 3;
    if !fits {
        return Vec::new();
    }
    let all = [Order::Equal, Order::AtMost, Order::AtLeast, Order::Less];
    let mut orders: Vec<Vec<Order>> = vec![Vec::new()];
    for _ in &inputs {
        let longer = |o: &Vec<Order>| all.map(|next| [&o[..], &[next]].concat());
        orders = orders.iter().flat_map(longer).collect();
    }
    let mut found: Vec<Lemma> = Vec::new();
    for order in orders {
        let strict = order.iter().filter(|&&o| o == Order::Less).count();
        let first = order.iter().find(|&&o| o != Order::Equal);
        if strict > 1 || (p == q && matches!(first, None | Some(Order::AtLeast))) {
            continue;
        }
        let premises: Vec<Literal> = inputs
            .iter()
            .zip(&order)
            .map(|(&at, order)| {
                let (a, b) = (column(0, at), column(1, at));
                match order {
                    Order::Equal => Literal::equal(a, b, SortId::INT),
                    Order::AtMost => Literal::ordered(b, a, 0),
                    Order::AtLeast => Literal::ordered(a, b, 0),
                    Order::Less => Literal::ordered(b, a, 1),
                }
            })
            .collect();
        for &output in outputs {
            let (a, b) = (column(0, output), column(1, output));
            let is_equal = order.iter().all(|&o| o == Order::Equal);
            let conclusions = match (strict > 0, is_equal) {
                (true, _) => vec![Literal::ordered(b, a, 1), Literal::ordered(a, b, 1)],
                (_, true) => vec![Literal::equal(a, b, SortId::INT)],
                _ => vec![Literal::ordered(b, a, 0), Literal::ordered(a, b, 0)],
            };
            for conclusion in conclusions {
                guarded(space, (p, q), &inputs, &premises, conclusion, &mut found);
            }
        }
    }
    distinct(found)
}

/// The weakest of some guards under which a pair holds.
fn guarded(
    space: &Space<'_>,
    (p, q): (PredicateId, PredicateId),
    inputs: &[usize],
    premises: &[Literal],
    conclusion: Literal,
    found: &mut Vec<Lemma>,
) {
    let lemma = |guard: &[Literal]| {
        let premises = [premises, guard].concat();
        Lemma::new(vec![p, q], premises, vec![conclusion.clone()], Origin::Pair)
    };
    for bound in [None, Some(0), Some(1), Some(2)] {
        let guard: Vec<Literal> = match bound {
            None => Vec::new(),
            Some(bound) => [0, 1]
                .into_iter()
                .flat_map(|slot| inputs.iter().map(move |&at| column(slot, at)))
                .map(|c| Literal::at_least(c, bound))
                .collect(),
        };
        let whole = lemma(&guard);
        if !space.holds(&whole) || space.support(&whole, 5) < 5 {
            continue;
        }
        for seed in 0..if bound.is_some() { 2 } else { 1 } {
            let mut random = Random::new(seed);
            let mut order: Vec<Literal> = guard.clone();
            for at in (1..order.len()).rev() {
                order.swap(at, random.below(at + 1));
            }
            let mut kept = guard.clone();
            for literal in &order {
                let rest: Vec<Literal> = kept.iter().filter(|l| *l != literal).cloned().collect();
                if space.holds(&lemma(&rest)) {
                    kept = rest;
                }
            }
            found.push(lemma(&kept));
        }
        return;
    }
}

/// The lemmas without duplicates, in their order.
pub fn distinct(lemmas: Vec<Lemma>) -> Vec<Lemma> {
    let mut seen: FxHashMap<Key, ()> = FxHashMap::default();
    let mut lemmas = lemmas;
    lemmas.retain(|lemma| seen.insert(lemma.key(), ()).is_none());
    lemmas
}
