//! Control recovery: arguments that act as a program counter become predicates.
//!
//! A transition system as hardware-minded tools write it has one predicate, and hides the program's
//! locations in a few of its arguments. A predicate is split here into one for each reachable
//! valuation of such arguments, without them; what is left of a clause under a valuation is an edge
//! of the control-flow graph. That the graph becomes small again is the business of inlining.
//!
//! Valuations are found by a worklist: for each clause and each combination of known valuations of
//! its body, the solver is asked for valuations of the head, one after another, unless the
//! constraint says plainly what it is. The clauses' other variables are not restricted, so what is
//! found is reachable in the graph, not always in the program. Which arguments are split on is
//! decided by cost: candidates are Booleans, enumerations and arguments that only ever have a few
//! constants ([`super::finite_values`]) and are tested; those under whose values the constraints
//! shrink most come first, and as many are taken as leave the clauses' total size within a factor
//! of what it was. Data does not pass this test, since the clauses are as large under each of its
//! values. A counter that every clause equates with a value, wherever it has it, may have many values,
//! and then is split on alone: each clause is there under one of them.
//!
//! Invariant: a combination of valuations without an edge contradicts its clause, so a predicate is
//! false at valuations that were not reached; each edge remembers its clause and the values.

mod build;
mod candidates;
mod explore;

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use self::candidates::{candidates, size};
use self::explore::{Explorer, Failure, Graph};
use super::{Step, Transformation};
use alphorn_chc::{PredicateId, System};
use alphorn_smt::Smt;
use alphorn_term::run::{Budget, Context};

/// Values that one argument may have to be split on.
const VALUES: usize = 32;

/// Arguments of one predicate that are considered together.
const CANDIDATES: usize = 16;

/// Valuations of one predicate at most.
const VALUATIONS: usize = 1024;

/// Valuations of a clause's head under one combination of its body's.
const SUCCESSORS: usize = 32;

/// The size of the clauses of split predicates may grow by this factor, and so may that of all
/// clauses in one run.
const GROWTH: usize = 3;

/// Clauses that may always be made, and for each clause there was.
const EDGES: (usize, usize) = (1024, 4);

/// What an argument must save: at 1 the constraints are as large under each value, at 0 the values
/// divide them.
const WASTE: f64 = 0.7;

/// Sub-terms visited by substitution at most, in one run.
const FUEL: usize = 10_000_000;

/// Work for all applications in one run, beyond which nothing new is tried.
const PATIENCE: Duration = Duration::from_secs(4);

/// Queries of one attempt at most.
const QUERIES: usize = 4_000;

/// The pass. Fuel, time and growth are budgets for all its applications in one run.
pub struct Control {
    fuel: usize,
    spent: Duration,
    /// Bound on the size of all clauses.
    size: Option<usize>,
    /// Predicates that were not worth it, with the size of their clauses at that time; once it is
    /// much smaller, they may be.
    rejected: FxHashMap<PredicateId, usize>,
}

impl Default for Control {
    fn default() -> Self {
        Control {
            fuel: FUEL,
            spent: Duration::ZERO,
            size: None,
            rejected: FxHashMap::default(),
        }
    }
}

impl Transformation for Control {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let before = old.terms.work();
        let graph = self.plan(old, cx);
        self.spent += old.terms.work() - before;
        graph.map(|graph| graph.build(old))
    }
}

impl Control {
    /// The graph to split along, if one is worth it.
    fn plan(&mut self, system: &System, cx: &Context) -> Option<Graph> {
        let terms = &system.terms;
        let left = PATIENCE.checked_sub(self.spent)?;
        let sizes: Vec<usize> = system
            .clauses
            .iter()
            .map(|c| size(terms, c.constraint))
            .collect();
        let limit = || GROWTH * sizes.iter().sum::<usize>();
        let limit = *self.size.get_or_insert_with(limit);
        let mut weight: FxHashMap<PredicateId, usize> = FxHashMap::default();
        for (clause, size) in system.clauses.iter().zip(&sizes) {
            let mut predicates: Vec<PredicateId> = clause.atoms().map(|a| a.predicate).collect();
            predicates.sort_unstable();
            predicates.dedup();
            for predicate in predicates {
                *weight.entry(predicate).or_default() += size;
            }
        }
        let mut ranked = candidates(system, &mut self.fuel, cx);
        ranked.retain(|p, _| {
            let before = self.rejected.get(p);
            before.is_none_or(|before| 4 * weight[p] < 3 * before)
        });
        if ranked.is_empty() {
            return None;
        }
        let best = self.search(system, &sizes, &ranked, limit, &cx.budget.work(left));
        let split = |p: &PredicateId| best.as_ref().is_some_and(|g| g.choice.contains_key(p));
        let rejected = ranked.keys().filter(|p| !split(p));
        self.rejected.extend(rejected.map(|p| (*p, weight[p])));
        best
    }

    /// The graph that splits on as many of the ranked arguments as its size allows, by bisection.
    fn search(
        &mut self,
        system: &System,
        sizes: &[usize],
        ranked: &FxHashMap<PredicateId, Vec<usize>>,
        limit: usize,
        budget: &Budget,
    ) -> Option<Graph> {
        let smt = Smt::within(budget);
        let mut ranges: FxHashMap<PredicateId, Range> = ranked
            .iter()
            .map(|(p, list)| (*p, Range::new(list.len())))
            .collect();
        let mut best = None;
        while ranges.values().any(|r| r.tried > 0) && !budget.is_spent() {
            let tried = ranges.iter().filter(|(_, r)| r.tried > 0);
            let choice: FxHashMap<PredicateId, Vec<usize>> = tried
                .map(|(p, r)| {
                    let mut positions = ranked[p][..r.tried].to_vec();
                    positions.sort_unstable();
                    (*p, positions)
                })
                .collect();
            let arguments: usize = choice.values().map(Vec::len).sum();
            let predicates = choice.len();
            let fuel = &mut self.fuel;
            let mut explorer = Explorer::new(system, sizes, choice, smt.clone(), fuel);
            explorer.size_limit = limit;
            let found = explorer.run(budget);
            log::debug!(
                "{arguments} arguments of {predicates} predicates: {} after {} queries, {} edges, \
                 size {} of {}",
                match &found {
                    Ok(_) => "a graph",
                    Err(Failure::TooLarge(_)) => "too large",
                    Err(Failure::Undecided) => "undecided",
                },
                explorer.queries,
                explorer.edges,
                explorer.size,
                explorer.size_limit
            );
            let blamed = explorer.blamed();
            match found {
                Ok(graph) => {
                    ranges.values_mut().for_each(|r| r.good = r.tried);
                    best = Some(graph);
                }
                Err(Failure::TooLarge(one)) => {
                    for predicate in one.map_or(blamed, |p| vec![p]) {
                        if let Some(range) = ranges.get_mut(&predicate) {
                            range.bad = range.tried;
                        }
                    }
                }
                Err(Failure::Undecided) => break,
            }
            ranges.values_mut().for_each(Range::halve);
            if ranges.values().all(|r| r.tried == r.good) {
                break;
            }
        }
        best
    }
}

/// How many of a predicate's candidates to split on.
struct Range {
    /// So many will do,
    good: usize,
    /// so many are tried now,
    tried: usize,
    /// and so many are too many.
    bad: usize,
}

impl Range {
    fn new(candidates: usize) -> Range {
        Range {
            good: 0,
            tried: candidates,
            bad: candidates + 1,
        }
    }

    /// Tries the middle of what is open.
    fn halve(&mut self) {
        self.tried = match self.bad - self.good {
            1 => self.good,
            _ => (self.good + self.bad) / 2,
        };
    }
}
