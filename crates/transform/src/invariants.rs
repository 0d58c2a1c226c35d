//! Invariants found by abstract interpretation, conjoined to the clauses as checked facts.
//!
//! The domains of [`alphorn_domain`] say what may hold of each predicate (`candidates`). A solver
//! then keeps the conjuncts that are inductive together (`houdini`). What is left is conjoined to
//! the constraint where a clause uses the predicate, unless it follows from the constraint; clauses
//! that become unsatisfiable go, and when no query is left the system is solved.
//!
//! Invariant: what is conjoined holds for every fact that can be derived, by the solver's word and
//! not by the domains'. So a model of the new system, conjoined with it, is one of the old, and a
//! refutation of the new system is one of the old as it is.

use std::rc::Rc;
use std::time::Duration;

use super::candidates::{candidates, within};
use super::replacement::Replacement;
use super::visits::Visits;
use super::{Step, Transformation};
use alphorn_chc::System;
use alphorn_proof::facts::{Checker, Facts};
use alphorn_term::run::Context;

/// Time for checking what the domains say, at most.
const CHECKING: Duration = Duration::from_millis(400);

/// So many conjuncts are checked all at once; more from simple to precise, so that a lack of time
/// costs the precise ones only.
const AT_ONCE: usize = 120;

/// The pass. It looks at a predicate only once in a run.
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
        // A single question over words may be hard.
        if stages.iter().map(size).sum::<usize>() <= AT_ONCE && !old.has_wide_words() {
            let mut all = Facts::default();
            for (predicate, conjuncts) in stages.drain(..).flatten() {
                all.entry(predicate).or_default().extend(conjuncts);
            }
            stages.push(all);
        }
        strengthen(
            old,
            stages,
            within(CHECKING, cx),
            "transform.invariants",
            cx,
        )
    }
}

/// Conjoins to the clauses what is inductive of the facts, one stage together with what is proven
/// of the stages before it, by at most this work. What is proven is counted under the name.
pub(super) fn strengthen(
    old: &Rc<System>,
    stages: Vec<Facts>,
    work: Duration,
    name: &str,
    cx: &mut Context,
) -> Option<Step> {
    let candidates = stages.iter().map(count).sum();
    cx.stats.add(&format!("{name}.candidates"), candidates);
    let prove = |checker: &mut Checker, cx: &mut Context| {
        // What is proven must still be written down.
        cx.within(cx.budget.work(work * 3 / 5), |cx| {
            for stage in stages {
                if !checker.prove(stage, cx) {
                    log::debug!("time for checking invariants is over");
                    break;
                }
            }
        });
    };
    conjoin(old, prove, work, name, cx)
}

/// The same for facts that are known to be inductive together, which are not proven again. Were they
/// not inductive, a model would fail its check on the text.
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

/// Conjoins to the clauses what the checker was told.
fn conjoin(
    old: &Rc<System>,
    tell: impl FnOnce(&mut Checker, &mut Context),
    work: Duration,
    name: &str,
    cx: &mut Context,
) -> Option<Step> {
    let (facts, system) = cx.within(cx.budget.work(work), |cx| {
        let mut checker = Checker::new(old, cx);
        tell(&mut checker, cx);
        cx.stats
            .add(&format!("{name}.proven"), count(checker.facts()));
        cx.within(cx.budget.work(work / 8), |cx| checker.shorten(cx));
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
