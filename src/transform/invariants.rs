//! Invariants found by abstract interpretation, conjoined to the clauses as checked facts.
//!
//! The domains of [`crate::domain`] say what may hold of each predicate (`candidates`). A solver then
//! keeps the conjuncts that are inductive together (`houdini`). What is left is conjoined to the
//! constraint where a clause uses the predicate, unless it follows from the constraint; clauses
//! that become unsatisfiable go, and when no query is left the system is solved.
//!
//! Invariant: what is conjoined holds for every fact that can be derived, by the solver's word and
//! not by the domains'. So a model of the new system, conjoined with it, is one of the old, and a
//! refutation of the new system is one of the old as it is.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::FxHashSet;

use super::candidates::{candidates, within};
use super::{BackError, BackTranslation, Step, TransformError, Transformation, complete_model};
use crate::chc::{PredicateId, System};
use crate::proof::houdini::{Checker, Facts, conjoin};
use crate::run::Context;
use crate::witness::{Model, Refutation};

/// Time for checking what the domains say, at most.
const CHECKING: Duration = Duration::from_millis(400);

/// How often the pass runs in a pipeline: other passes may make more of what it found.
const RUNS: usize = 2;

/// So many conjuncts are checked all at once; more from simple to precise, so that a lack of time
/// costs the precise ones only.
const AT_ONCE: usize = 120;

/// The pass. It looks at a predicate only once in a run.
#[derive(Default)]
pub struct Invariants {
    seen: RefCell<FxHashSet<PredicateId>>,
    runs: Cell<usize>,
}

impl Transformation for Invariants {
    fn name(&self) -> &'static str {
        "invariants"
    }

    fn waits(&self) -> bool {
        true
    }

    fn apply(&self, system: System, cx: &mut Context) -> Result<Step, TransformError> {
        let old = Rc::new(system);
        let mut system = (*old).clone();
        let used = old.used_predicates();
        let mut seen = self.seen.borrow_mut();
        let fresh = used.iter().any(|p| !seen.contains(p));
        let facts = if fresh && self.runs.get() < RUNS {
            seen.extend(used);
            self.runs.set(self.runs.get() + 1);
            let mut stages = candidates(&old, cx);
            let size = |facts: &Facts| facts.values().map(Vec::len).sum::<usize>();
            if stages.iter().map(size).sum::<usize>() <= AT_ONCE {
                let mut all = Facts::default();
                for (predicate, conjuncts) in stages.drain(..).flatten() {
                    all.entry(predicate).or_default().extend(conjuncts);
                }
                stages.push(all);
            }
            let time = within(CHECKING, cx);
            cx.within(cx.budget.work(time), |cx| {
                let mut checker = Checker::new(&old, cx);
                // What is proven must still be written down.
                cx.within(cx.budget.work(time * 3 / 5), |cx| {
                    for stage in stages {
                        if !checker.prove(stage, cx) {
                            log::debug!("time for checking invariants is over");
                            break;
                        }
                    }
                });
                cx.within(cx.budget.work(time / 8), |cx| checker.shorten(cx));
                let changed = checker.conjoin(&mut system, cx);
                (checker.into_facts(), changed)
            })
        } else {
            Default::default()
        };
        let (facts, changed) = facts;
        let conjuncts: usize = facts.values().map(Vec::len).sum();
        cx.stats.add("transform.invariants.facts", conjuncts as u64);
        Ok(Step {
            system,
            back: Box::new(Back { old, facts }),
            changed,
        })
    }
}

struct Back {
    old: Rc<System>,
    facts: Facts,
}

impl BackTranslation for Back {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        complete_model(&self.old, &mut model);
        conjoin(&self.old, &self.facts, &mut model);
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        _cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        // A step that satisfies the stronger constraint satisfies the one it was made from.
        Ok(refutation)
    }
}
