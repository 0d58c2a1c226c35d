//! Recovers control flow: arguments that act as a program counter become predicates.
//!
//! Transition systems from hardware-oriented tools have one predicate, and encode the program's
//! locations in some of its arguments. The pass splits a predicate into one for each reachable
//! valuation of such arguments, without these arguments. The remainder of a clause under a
//! valuation is an edge of the control-flow graph, which `inline` then simplifies.
//!
//! Valuations are found by a worklist: for each clause and each combination of known valuations of
//! its body, the solver enumerates the valuations of the head, unless the constraint gives it
//! directly. The clauses' other variables are not restricted, so a valuation found is reachable in
//! the graph, but not always in the program.
//!
//! The arguments to split on are chosen by cost. Candidates are Booleans, enumerations, and
//! arguments that have few values ([`super::finite_values`]) and are compared with constants. Those
//! under whose values the constraints shrink most come first, and as many are taken as keep the
//! clauses' total size within a factor of the original size. Data arguments do not qualify, since
//! the clauses are as large under each of their values. A counter that every clause equates with a
//! value wherever it occurs may have many values, and is split on alone: each clause belongs to one
//! of them.
//!
//! Invariant: a combination of valuations without an edge contradicts its clause, so a predicate is
//! false at valuations that were not reached. Each edge records its clause and the values.

mod build;
mod candidates;
mod explore;
mod limits;

use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use self::candidates::{candidates, size};
use self::explore::{Explorer, Failure, Graph};
use self::limits::LIMITS;
use super::candidates::within_part;
use super::{Step, Transformation};
use alphorn_chc::{PredicateId, System};
use alphorn_smt::Smt;
use alphorn_term::run::{Budget, Context};

/// The pass. Its budgets for fuel, time and growth cover all applications in a run.
pub struct Control {
    fuel: usize,
    spent: Duration,
    /// A bound on the size of all clauses.
    size: Option<usize>,
    /// Predicates that were not split, with the size of their clauses at that time; they are
    /// considered again when it is much smaller.
    rejected: FxHashMap<PredicateId, usize>,
}

impl Default for Control {
    fn default() -> Self {
        Control {
            fuel: LIMITS.max_subterm_visits,
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
    /// The graph to split along, if there is a suitable one.
    fn plan(&mut self, system: &System, cx: &Context) -> Option<Graph> {
        let terms = &system.terms;
        let most = within_part(LIMITS.total_work, LIMITS.part_of_run, cx).min(LIMITS.total_work);
        let left = most.checked_sub(self.spent)?;
        let sizes: Vec<usize> = system
            .clauses
            .iter()
            .map(|c| size(terms, c.constraint))
            .collect();
        let limit = || LIMITS.max_growth_factor * sizes.iter().sum::<usize>();
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
        let is_open = |(p, weight): (&PredicateId, &usize)| {
            let before = self.rejected.get(p);
            before
                .is_none_or(|before| 4 * weight < 3 * before)
                .then_some(*p)
        };
        let wanted: FxHashSet<PredicateId> = weight.iter().filter_map(is_open).collect();
        let ranked = candidates(system, &wanted, &mut self.fuel, cx);
        if ranked.is_empty() {
            return None;
        }
        let best = self.search(system, &sizes, &ranked, limit, &cx.budget.work(left));
        let split = |p: &PredicateId| best.as_ref().is_some_and(|g| g.choice.contains_key(p));
        let rejected = ranked.keys().filter(|p| !split(p));
        self.rejected.extend(rejected.map(|p| (*p, weight[p])));
        best
    }

    /// The graph that splits on as many of the ranked arguments as the size limit allows, by
    /// bisection.
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

/// The number of a predicate's candidates to split on, during bisection.
struct Range {
    /// The largest number that is known to be possible.
    good: usize,
    /// The number to be tried next.
    tried: usize,
    /// The smallest number that is known to be too large.
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

    /// Tries the middle of the remaining range.
    fn halve(&mut self) {
        self.tried = match self.bad - self.good {
            1 => self.good,
            _ => (self.good + self.bad) / 2,
        };
    }
}
