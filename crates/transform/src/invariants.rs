//! Invariants found by abstract interpretation, conjoined to the clauses after they are proven.
//!
//! The domains of [`alphorn_domain`] give candidates for each predicate (`candidates`), and Houdini
//! with a solver keeps those that are inductive together; `orders` of bit-vectors are the last
//! candidates. What is kept is conjoined to the constraints of clauses that use the predicate,
//! unless it follows from the constraint. Clauses that become unsatisfiable are dropped; without any
//! query the system is solved.
//!
//! Invariant: what is conjoined holds of every derivable fact, as proven by the solver; the domains
//! are not trusted. So a model of the new system conjoined with it is a model of the old one, and a
//! refutation of the new system is one of the old system.

use std::rc::Rc;
use std::time::Duration;

use super::candidates::{candidates, within, within_part};
use super::orders::{drop_violated, not_implied, orders};
use super::replacement::Replacement;
use super::visits::Visits;
use super::{Step, Transformation};
use alphorn_chc::System;
use alphorn_proof::facts::{Checker, Facts};
use alphorn_term::run::Context;

/// The limits of the pass.
struct Limits {
    /// Work for proving and conjoining the candidates (less in short runs, see [`within`]); what is
    /// not proven by then is dropped.
    proof_work: Duration,
    /// Additional work for orders of bit-vectors (less in short runs); at its end there are none.
    orders_work: Duration,
    /// It is at most the run's limit divided by this.
    orders_part: u32,
    /// Orders that may hold; with more, none are proven.
    max_orders: u64,
    /// Up to this many conjuncts are proven all at once; more from simple to precise ones, so that
    /// the end of the work affects the precise ones only.
    max_conjuncts_at_once: usize,
    /// The part of the work for proofs, as numerator and denominator.
    proof_share: (u32, u32),
    /// The work divided by this is the limit for dropping redundant facts.
    shortening_part: u32,
}

const LIMITS: Limits = Limits {
    proof_work: Duration::from_millis(400),
    orders_work: Duration::from_millis(700),
    orders_part: 12,
    max_orders: 120,
    max_conjuncts_at_once: 120,
    proof_share: (3, 5),
    shortening_part: 8,
};

/// The pass. It considers each predicate only once in a run.
#[derive(Default)]
pub struct Invariants {
    visits: Visits,
}

impl Transformation for Invariants {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        if !self.visits.begin(&old.used_predicates()) {
            return None;
        }
        let mut stages = candidates(old, cx);
        let size = |facts: &Facts| facts.values().map(Vec::len).sum::<usize>();
        // With bit-vectors a single query may be hard.
        if stages.iter().map(size).sum::<usize>() <= LIMITS.max_conjuncts_at_once
            && !old.has_wide_bit_vectors()
        {
            let mut all = Facts::default();
            for (predicate, conjuncts) in stages.drain(..).flatten() {
                all.entry(predicate).or_default().extend(conjuncts);
            }
            stages.push(all);
        }
        let work = within(LIMITS.proof_work, cx);
        let for_orders = within_part(LIMITS.orders_work, LIMITS.orders_part, cx);
        let prove = |checker: &mut Checker, cx: &mut Context| {
            prove(checker, stages, work, cx);
            cx.within(cx.budget.work(for_orders), |cx| {
                prove_orders(checker, old, cx);
            });
        };
        conjoin(old, prove, work + for_orders, "transform.invariants", cx)
    }
}

/// Adds the orders of bit-vectors that are inductive together with what is proven, but for those
/// that other facts imply.
fn prove_orders(checker: &mut Checker, system: &System, cx: &Context) {
    let candidates = orders(system);
    let all = count(&candidates);
    if all == 0 {
        return;
    }
    let candidates = drop_violated(system, checker.facts(), candidates, cx);
    let left = count(&candidates);
    let inductive = (left <= LIMITS.max_orders)
        .then(|| checker.inductive(&candidates, cx))
        .flatten();
    log::debug!("{all} orders of bit-vectors, {left} not violated by points");
    if let Some(inductive) = inductive {
        let kept = not_implied(system, checker.facts(), inductive, cx);
        log::debug!("{} orders are inductive and not implied", count(&kept));
        checker.accept(kept);
    }
}

/// Conjoins those facts to the clauses that are inductive, with at most `work`; each stage together
/// with what is proven of the stages before it. The statistics have the given name as a prefix.
pub(super) fn strengthen(
    old: &Rc<System>,
    stages: Vec<Facts>,
    work: Duration,
    name: &str,
    cx: &mut Context,
) -> Option<Step> {
    let candidates = stages.iter().map(count).sum();
    cx.stats.add(&format!("{name}.candidates"), candidates);
    let prove = |checker: &mut Checker, cx: &mut Context| prove(checker, stages, work, cx);
    conjoin(old, prove, work, name, cx)
}

/// Proves the stages with a share of the work; the rest is for conjoining what is proven.
fn prove(checker: &mut Checker, stages: Vec<Facts>, work: Duration, cx: &mut Context) {
    let share = work * LIMITS.proof_share.0 / LIMITS.proof_share.1;
    cx.within(cx.budget.work(share), |cx| {
        for stage in stages {
            if !checker.prove(stage, cx) {
                log::debug!("the limit for proving invariants is reached");
                break;
            }
        }
    });
}

/// The same for facts that are known to be inductive together; they are not proven again. If they
/// were not inductive, a model would fail its check on the text.
pub(super) fn strengthen_by(
    old: &Rc<System>,
    facts: Facts,
    work: Duration,
    name: &str,
    cx: &mut Context,
) -> Option<Step> {
    let accept = |checker: &mut Checker, _: &mut Context| checker.accept(facts);
    conjoin(old, accept, work, name, cx)
}

fn count(facts: &Facts) -> u64 {
    facts.values().map(Vec::len).sum::<usize>() as u64
}

/// Conjoins to the clauses the facts that `add` gives to the checker.
fn conjoin(
    old: &Rc<System>,
    add: impl FnOnce(&mut Checker, &mut Context),
    work: Duration,
    name: &str,
    cx: &mut Context,
) -> Option<Step> {
    let (facts, system) = cx.within(cx.budget.work(work), |cx| {
        let mut checker = Checker::new(old, cx);
        add(&mut checker, cx);
        cx.stats
            .add(&format!("{name}.proven"), count(checker.facts()));
        cx.within(cx.budget.work(work / LIMITS.shortening_part), |cx| {
            checker.shorten(cx)
        });
        let system = (!checker.facts().is_empty()).then(|| (**old).clone());
        let system = system.and_then(|mut s| checker.conjoin(&mut s, cx).then_some(s));
        (checker.into_facts(), system)
    });
    cx.stats.add(&format!("{name}.facts"), count(&facts));
    let mut replacement = Replacement::new(old);
    for (predicate, facts) in facts {
        replacement.strengthen(predicate, old.terms.and(&facts));
    }
    system.map(|system| replacement.step(system))
}
