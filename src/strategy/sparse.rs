//! The sparse analysis of large systems (`alphorn_domain::sparse`) before all passes: a model where it
//! excludes all queries, otherwise a refutation along a walk to an open query, otherwise the clauses
//! that it excludes.
//!
//! Invariant: its models and refutations are answers only after the check of all witnesses.

use std::rc::Rc;
use std::time::{Duration, Instant};

use alphorn_chc::System;
use alphorn_domain::sparse::{self, Analysis, Neighbourhood, Skeleton};
use alphorn_proof::facts::Facts;
use alphorn_proof::{DerivationStep, substituted};
use alphorn_smt::Smt;
use alphorn_term::TermId;
use alphorn_term::run::{Context, Phase};
use alphorn_witness::{Model, Refutation, Verdict};

/// The limits of walks and of what is handed on.
struct Limits {
    /// Smaller systems are not analysed: the quick passes and engines decide them as soon.
    min_clauses: usize,
    /// In smaller systems there are no walks, since engines refute them sooner.
    min_clauses_for_walks: usize,
    /// In smaller systems the engines see all clauses at once.
    min_clauses_for_neighbourhoods: usize,
    /// Predicates near open queries that keep their clauses, in each of the attempts.
    near: [usize; 2],
    /// Open queries that walks lead to.
    queries: usize,
    /// Walks to each of them.
    attempts: u32,
    /// Steps of a derivation that is given to the solver.
    max_steps: usize,
    /// The time for all of them is the remaining time divided by this, and at most `walk_time`.
    walk_part: u32,
    walk_time: Duration,
}

const LIMITS: Limits = Limits {
    min_clauses: 64,
    min_clauses_for_walks: 200,
    min_clauses_for_neighbourhoods: 1000,
    near: [16, 128],
    queries: 3,
    attempts: 55,
    max_steps: 50_000,
    walk_part: 4,
    walk_time: Duration::from_secs(30),
};

/// What the analysis gives.
pub(super) struct Found {
    /// A witness of the system.
    pub verdict: Option<Verdict>,
    /// Otherwise, by the position of a clause, whether it may be applied, and inductive facts that
    /// exclude the others.
    pub applicable: Vec<bool>,
    pub facts: Facts,
    /// What is near the open queries of a large system, the smallest first.
    pub neighbourhoods: Vec<Neighbourhood>,
}

/// Analyses the system; `None` if it is small.
pub(super) fn analyse(system: &System, cx: &mut Context) -> Option<Found> {
    if system.clauses.len() < LIMITS.min_clauses {
        return None;
    }
    Some(analyse_large(system, cx))
}

fn analyse_large(system: &System, cx: &mut Context) -> Found {
    cx.phase(Phase::Pass, "sparse", |cx| {
        let start = Instant::now();
        let analysis = sparse::analyse(system, &cx.budget);
        let open = analysis.open_queries().len();
        let proof = analysis.proof();
        let seconds = start.elapsed();
        cx.stats.add_time("sparse.seconds", seconds);
        cx.stats.add("sparse.open", open as u64);
        let seconds = seconds.as_secs_f64();
        log::info!("sparse: {open} queries are open, {seconds:.3} s");
        let mut found = Found {
            verdict: proof.map(|proof| Verdict::Sat(model(system, proof))),
            applicable: Vec::new(),
            facts: Facts::default(),
            neighbourhoods: Vec::new(),
        };
        let clauses = system.clauses.len();
        if found.verdict.is_some() {
            return found;
        }
        if clauses >= LIMITS.min_clauses_for_walks {
            found.verdict = walk(system, &analysis, cx).map(Verdict::Unsat);
        }
        if found.verdict.is_none() {
            if clauses >= LIMITS.min_clauses_for_neighbourhoods {
                let found_near = LIMITS.near.iter().map_while(|&p| analysis.neighbourhood(p));
                found.neighbourhoods = found_near.collect();
            }
            found.applicable = analysis.applicable();
            if found.applicable.iter().any(|applies| !applies) {
                match analysis.exclusions(&found.applicable) {
                    Some(facts) => found.facts = facts,
                    None => found.applicable.clear(),
                }
            }
        }
        found
    })
}

/// The model that says the facts, and nothing of other predicates.
fn model(system: &System, facts: Facts) -> Model {
    let terms = &system.terms;
    let definitions = facts.into_iter();
    let definitions = definitions.map(|(p, formulas)| (p, terms.and(&formulas)));
    let mut model = Model {
        definitions: definitions.collect(),
        ..Model::default()
    };
    for predicate in system.used_predicates() {
        model.definitions.entry(predicate).or_insert(TermId::TRUE);
    }
    model
}

/// A refutation along a walk of the analysis, within a part of the time.
fn walk(system: &System, analysis: &Analysis, cx: &mut Context) -> Option<Refutation> {
    let left = cx.remaining().map(|left| left / LIMITS.walk_part);
    let time = left.map_or(LIMITS.walk_time, |left| left.min(LIMITS.walk_time));
    let part = cx.budget.time(time);
    cx.within(part, |cx| refutation(system, analysis, cx))
}

/// The first refutation along one of the walks.
fn refutation(system: &System, analysis: &Analysis, cx: &mut Context) -> Option<Refutation> {
    let mut walks = 0;
    let found = analysis.walk(LIMITS.queries, LIMITS.attempts, |skeleton| {
        if cx.stop().is_some() || skeleton.len() > LIMITS.max_steps {
            return None;
        }
        walks += 1;
        let (start, steps) = (Instant::now(), skeleton.len());
        let found = derivation(system, skeleton, cx);
        let seconds = start.elapsed().as_secs_f64();
        let what = if found.is_some() { "a" } else { "no" };
        log::debug!("sparse: {what} refutation by a walk of {steps} steps, {seconds:.3} s");
        found
    });
    cx.stats.add("sparse.walks", walks);
    found
}

/// Values for a derivation, if there are some.
fn derivation(system: &System, skeleton: Skeleton, cx: &Context) -> Option<Refutation> {
    let smt: Rc<Smt> = Smt::within(&cx.budget);
    let steps = skeleton.into_iter();
    let steps = steps.map(|(clause, premises)| DerivationStep { clause, premises });
    substituted(system, &steps.collect::<Vec<_>>(), &smt)
}
