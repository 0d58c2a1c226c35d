//! Orders of bit-vectors: candidates for invariants of a form, unlike those of abstract domains,
//! which follow the clauses.
//!
//! For the bit-vectors of each predicate these are `x <= y` in both directions and `x != y` for
//! pairs of one width, and bounds by constants that clauses compare with; orders are unsigned and
//! signed. Most do not hold, so before Houdini those are dropped that points violate, which clauses
//! derive with values put in: comparisons of many wide bit-vectors are costly for the solver.
//!
//! Invariant: each candidate is over the formal variables of its predicate, and none is valid or
//! listed twice. Nothing here is trusted.

use std::collections::BTreeMap;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use alphorn_chc::{PredicateId, System};
use alphorn_proof::facts::Facts;
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::run::Context;
use alphorn_term::{Assignment, BigUint, Evaluator, Op, Random, TermId, TermStore};

/// The seed of the random choices, which are the same in each run.
const SEED: u64 = 5;

/// The limits of the candidates.
struct Limits {
    /// Bit-vectors of one predicate; systems with more have no candidates.
    max_bit_vectors: usize,
    /// Constants of one width, with those that each width has; further ones are left out.
    max_constants: usize,
    /// Candidates of the system; with more, there are none.
    max_candidates: usize,
    /// Terms in the constraints; larger systems have no candidates.
    max_size: usize,
    /// How often each clause is applied to find points that violate candidates.
    rounds: usize,
    /// One query for a point; without an answer there is none.
    query_work: Duration,
}

const LIMITS: Limits = Limits {
    max_bit_vectors: 16,
    max_constants: 20,
    max_candidates: 1000,
    max_size: 1500,
    rounds: 30,
    query_work: Duration::from_millis(5),
};

/// The candidates of all predicates; none if there are too many.
pub(super) fn orders(system: &System) -> Facts {
    let terms = &system.terms;
    let mut facts = Facts::default();
    if !system.has_argument(|v| terms.width(v) > 1) {
        return facts;
    }
    let constraints: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
    if terms.dag_size(&constraints) > LIMITS.max_size {
        return facts;
    }
    let mut constants: BTreeMap<u32, Vec<BigUint>> = BTreeMap::new();
    let mut count = 0;
    for predicate in system.used_predicates() {
        let params = system.predicate(predicate).params.iter().copied();
        let bit_vectors: Vec<TermId> = params.filter(|v| terms.width(*v) > 1).collect();
        if bit_vectors.len() > LIMITS.max_bit_vectors {
            return Facts::default();
        }
        if bit_vectors.is_empty() {
            continue;
        }
        if constants.is_empty() {
            constants = compared(system);
        }
        let mut found = Vec::new();
        for (at, &x) in bit_vectors.iter().enumerate() {
            let width = terms.width(x);
            let ends = ends(width);
            let others = constants.get(&width).into_iter().flatten();
            let bounds: Vec<&BigUint> = ends.iter().chain(others).collect();
            let mut known = FxHashSet::default();
            for bound in bounds.into_iter().take(LIMITS.max_constants) {
                if known.insert(bound) {
                    found.extend(both_ways(terms, x, terms.bitvec(bound.clone(), width)));
                }
            }
            for &y in &bit_vectors[at + 1..] {
                if terms.width(y) == width {
                    found.extend(both_ways(terms, x, y));
                    found.push(terms.not(terms.eq(x, y)));
                }
            }
        }
        count += found.len();
        if count > LIMITS.max_candidates {
            return Facts::default();
        }
        facts.insert(predicate, found);
    }
    facts
}

/// `x <= y` and `y <= x`, unsigned and signed, without those that are valid.
fn both_ways(terms: &TermStore, x: TermId, y: TermId) -> impl Iterator<Item = TermId> + '_ {
    let width = terms.width(x);
    // Both orders are each other's image if the sign is flipped.
    let flipped = move |t: TermId| {
        let sign = BigUint::from(1u32) << (width - 1);
        let value = terms.as_bitvec(t)?;
        Some(terms.bitvec(value ^ sign, width))
    };
    let valid = move |op: &Op, a: TermId, b: TermId| {
        let [a, b] = match op {
            Op::BvSle => [flipped(a).unwrap_or(a), flipped(b).unwrap_or(b)],
            _ => [a, b],
        };
        terms.bv_op(&Op::BvUle, &[a, b]) == TermId::TRUE
    };
    let all = [Op::BvUle, Op::BvSle].into_iter();
    all.flat_map(move |op| [(op.clone(), x, y), (op, y, x)])
        .filter(move |(op, a, b)| !valid(op, *a, *b))
        .map(move |(op, a, b)| terms.bv_op(&op, &[a, b]))
}

/// Bounds of each width: the ends of both orders and their neighbours.
fn ends(width: u32) -> Vec<BigUint> {
    let one = BigUint::from(1u32);
    let half = &one << (width - 1);
    let all = (&half << 1u32) - &one;
    vec![BigUint::default(), one.clone(), &half - &one, half, all]
}

/// By width: the constants that a clause compares or equates with a term, then their neighbours.
fn compared(system: &System) -> BTreeMap<u32, Vec<BigUint>> {
    let terms = &system.terms;
    let constraints: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
    let mut exact: BTreeMap<u32, Vec<BigUint>> = BTreeMap::new();
    terms.post_order(&constraints, |t| {
        if matches!(terms.op(t), Op::BvUle | Op::BvSle | Op::Eq) {
            for &side in terms.args(t) {
                if let Some(value) = terms.as_bitvec(side) {
                    let values = exact.entry(terms.width(side)).or_default();
                    values.push(value.clone());
                }
            }
        }
    });
    for (width, values) in &mut exact {
        let one = BigUint::from(1u32);
        let all = (&one << *width) - &one;
        for value in values.clone() {
            values.push((&value + &one) & &all);
            values.push((&value + &all) & &all);
        }
        let mut known = FxHashSet::default();
        values.retain(|v| known.insert(v.clone()));
    }
    exact
}

/// Drops candidates that are not among the largest inductive subset of the candidates together with
/// the `known` facts, which are inductive; others may remain. See [`Samples`].
pub(super) fn drop_violated(
    system: &System,
    known: &Facts,
    candidates: Facts,
    cx: &Context,
) -> Facts {
    let smt = Smt::within(&cx.budget);
    let _limit = smt.limit_queries(Some(LIMITS.query_work));
    let mut constants = compared(system);
    for (width, values) in &mut constants {
        values.extend(ends(*width));
    }
    let mut samples = Samples {
        system,
        known,
        candidates,
        points: FxHashMap::default(),
        constants,
        random: Random::new(SEED),
    };
    let mut solvers: Vec<Option<Solver>> = system.clauses.iter().map(|_| None).collect();
    for _ in 0..LIMITS.rounds {
        for (at, solver) in solvers.iter_mut().enumerate() {
            if cx.stop().is_some() {
                return samples.candidates;
            }
            let solver = solver.get_or_insert_with(|| {
                let mut solver = smt.solver();
                solver.assert(system.clauses[at].constraint);
                solver
            });
            samples.step(at, solver);
        }
    }
    samples.candidates
}

/// The values of a predicate's arguments.
type Point = Vec<TermId>;

/// Points of predicates, found by applying clauses to points at random, some of them with one
/// argument changed.
///
/// Invariant: each point satisfies the candidates that are left and the known facts. So what a
/// clause derives from it violates only candidates that are in no inductive subset of those left.
struct Samples<'a> {
    system: &'a System,
    known: &'a Facts,
    candidates: Facts,
    points: FxHashMap<PredicateId, Vec<Point>>,
    /// By width: values that are likely at the border of what holds.
    constants: BTreeMap<u32, Vec<BigUint>>,
    random: Random,
}

impl Samples<'_> {
    /// Applies a clause, whose constraint the solver has, if there are points for its body.
    fn step(&mut self, clause: usize, solver: &mut Solver) {
        let clause = &self.system.clauses[clause];
        let terms = &self.system.terms;
        let Some(head) = &clause.head else { return };
        let mut given = Vec::new();
        for atom in &clause.body {
            let Some(point) = self.near(atom.predicate) else {
                return;
            };
            given.extend(atom.args.iter().zip(point).map(|(&a, v)| terms.eq(a, v)));
        }
        let mut answer = SatResult::Unsat;
        let mut free = terms.free_vars(&[clause.constraint]);
        free.extend(head.args.iter().copied());
        free.retain(|v| terms.width(*v) > 1);
        // A wish for one of the variables.
        if !free.is_empty() && (clause.body.is_empty() || self.random.below(2) == 0) {
            let var = free[self.random.below(free.len())];
            if let Some(value) = self.value(terms.width(var)) {
                given.push(terms.eq(var, value));
                answer = solver.check(&given);
                given.pop();
            }
        }
        if answer != SatResult::Sat && solver.check(&given) != SatResult::Sat {
            return;
        }
        let values = solver.model().and_then(|m| m.assignment(&head.args).ok());
        let Some(values) = values else { return };
        let point: Point = head.args.iter().map(|a| values[a]).collect();
        let values = self.named(head.predicate, &point);
        if let Some(candidates) = self.candidates.get_mut(&head.predicate) {
            let mut evaluator = Evaluator::new(terms, &values);
            candidates.retain(|c| evaluator.value(*c) == Some(TermId::TRUE));
        }
        self.points.entry(head.predicate).or_default().push(point);
    }

    /// A point of the predicate, or one that differs from it in an argument.
    fn near(&mut self, predicate: PredicateId) -> Option<Point> {
        let points = self.points.get(&predicate)?;
        let point = points[self.random.below(points.len())].clone();
        if point.is_empty() || self.random.below(2) == 0 {
            return Some(point);
        }
        let at = self.random.below(point.len());
        let terms = &self.system.terms;
        let width = terms.width(point[at]);
        let mut other = point.clone();
        let from = point[self.random.below(point.len())];
        other[at] = match self.random.below(2) {
            0 if terms.sort_of(from) == terms.sort_of(point[at]) => from,
            _ => self.value(width).unwrap_or(point[at]),
        };
        let values = self.named(predicate, &other);
        let mut evaluator = Evaluator::new(terms, &values);
        let mut all = [&self.candidates, self.known]
            .into_iter()
            .filter_map(|facts| facts.get(&predicate))
            .flatten();
        let inside = all.all(|fact| evaluator.value(*fact) == Some(TermId::TRUE));
        Some(if inside { other } else { point })
    }

    fn named(&self, predicate: PredicateId, point: &Point) -> Assignment {
        let params = self.system.predicate(predicate).params.iter().copied();
        params.zip(point.iter().copied()).collect()
    }

    /// A bit-vector of the width, if it is one.
    fn value(&mut self, width: u32) -> Option<TermId> {
        let values = self.constants.get(&width)?;
        let value = values[self.random.below(values.len())].clone();
        Some(self.system.terms.bitvec(value, width))
    }
}

/// Drops facts that the `known` and the remaining ones imply, such as bounds of which there are
/// closer ones; first the last ones.
pub(super) fn not_implied(system: &System, known: &Facts, mut facts: Facts, cx: &Context) -> Facts {
    let terms = &system.terms;
    let smt = Smt::within(&cx.budget);
    for (predicate, facts) in &mut facts {
        let mut solver = smt.solver();
        for &fact in known.get(predicate).into_iter().flatten() {
            solver.assert(fact);
        }
        let mut at = facts.len();
        while at > 0 && cx.stop().is_none() {
            at -= 1;
            let mut others = facts.clone();
            let fact = others.remove(at);
            others.push(terms.not(fact));
            if solver.check(&others) == SatResult::Unsat {
                facts.remove(at);
            }
        }
    }
    facts.retain(|_, facts| !facts.is_empty());
    facts
}
