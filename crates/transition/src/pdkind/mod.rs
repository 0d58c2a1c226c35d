//! Property directed k-induction: what has to be reached within some steps is told apart from what
//! is inductive over several of them.
//!
//! For linear systems where a single step says little and several say much: timed systems, whose
//! time jumps to the next event, and protocols that go in rounds. After Jovanović and Dutertre,
//! "Property-Directed k-Induction" (FMCAD 2016), with Sally and Golem read for what the paper
//! leaves open.
//!
//! An induction frame has lemmas that hold within `n` steps from facts, most of them because they
//! exclude a way to a query. `Push` asks of each whether it holds at the end of `k` steps over
//! which the whole frame holds (`push`, `runs`). A run that violates it begins in a cube; whether
//! that is reached within `n` steps is a matter for frames in the manner of IC3 (`frames`), which
//! either reach it or explain why not, and the explanation joins the frame. When all of a frame is
//! pushed, it is k-inductive, and a window of `k` steps makes an inductive invariant of it
//! (`proof/window.rs`).
//!
//! What differs from the paper:
//!
//! - A state is a predicate with its arguments; a formula speaks of one predicate. So a lemma is
//!   not strengthened by an explanation about another predicate: the explanation joins the frame by
//!   itself, and where nothing but the lemma wanted it, it may go again.
//! - Explanations are cores of a cube's literals, by which an interpolating solver is not needed.
//! - Queries with locals are the only steps to one more predicate, which a query excludes.
//! - A frame of which something goes holds for one more step only; the paper looks for the first
//!   step at which that fails.
//! - The counterexamples are chains of cubes with their steps, so a refutation is run along one.
//!
//! Invariant: a model comes from the window's queries, and a refutation is run step by step.

mod chain;
mod frames;
mod push;
mod runs;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use self::chain::{Link, Onward, run_along};
use self::frames::Frames;
use self::push::{Element, Push, Pushed};
use alphorn_chc::{Atom, PredicateId, Reachability, Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::facts::Lemmas;
use alphorn_proof::steps::Steps;
use alphorn_proof::trace::constraint_query;
use alphorn_proof::{Stop, complete_by_reachability, window};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Refutation, Verdict};

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Pdkind {
    /// The lemmas of the last frame.
    lemmas: Lemmas,
}

impl Engine for Pdkind {
    fn name(&self) -> &'static str {
        "pdkind"
    }

    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        driver::supports_linear(self.name(), shape)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        Vec::new()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        let mut lemmas = Vec::new();
        let result = driver::run(&*self, system, Arithmetic::Simplex, cx, |smt, cx| {
            let (single, ending) = with_ending(system);
            let verdict = decide(&single, smt, &mut lemmas, cx)?;
            Ok(match ending {
                Some(ending) => ending.back(verdict),
                None => verdict,
            })
        });
        // None is about the predicate that was added.
        lemmas.retain(|l: &(PredicateId, TermId)| l.0.index() < system.predicates.len());
        self.lemmas.guesses = lemmas;
        result
    }

    fn lemmas(&mut self) -> Lemmas {
        std::mem::take(&mut self.lemmas)
    }
}

/// Decides a system whose queries have no locals. `lemmas` are those of the last frame.
fn decide(
    system: &System,
    smt: &Rc<Smt>,
    lemmas: &mut Vec<(PredicateId, TermId)>,
    cx: &mut Context,
) -> Result<Verdict, Stop> {
    let reachability = Reachability::new(system);
    let steps = Steps::new(system, &reachability);
    let reversed = steps.reversed();
    if let Some(run) = constraint_query(system, &steps, &mut smt.solver(), cx)? {
        return Ok(Verdict::Unsat(run.refutation(system, &steps)?));
    }
    let mut frames = Frames::new(system, &steps, &reversed, smt);
    let mut frame = excluded_queries(system, &steps);
    for element in &frame {
        let Some(link) = &element.counterexample else {
            continue;
        };
        if let frames::Reached::Yes { entry, first } = frames.reach(link.clone(), 0, cx)? {
            let run = run_along(system, &steps, entry, &first, smt, cx)?;
            return Ok(Verdict::Unsat(run.refutation(system, &steps)?));
        }
    }
    let (mut n, mut k) = (0, 1);
    loop {
        cx.stats.set("pdkind.steps", n as u64);
        cx.stats.set("pdkind.k", k as u64);
        cx.stats.set("pdkind.frame", frame.len() as u64);
        cx.stats.set("pdkind.lemmas", frames.count as u64);
        log::debug!("frame of {}: n = {n}, k = {k}", frame.len());
        *lemmas = frame.iter().map(|e| (e.predicate, e.lemma)).collect();
        let push = Push {
            system,
            reversed: &reversed,
            smt,
            k,
            n,
        };
        match push.run(frame, &mut frames, cx)? {
            Pushed::Refuted { entry, first } => {
                let run = run_along(system, &steps, entry, &first, smt, cx)?;
                return Ok(Verdict::Unsat(run.refutation(system, &steps)?));
            }
            Pushed::Inductive(frame) => {
                log::debug!("{} lemmas are inductive over {k} steps", frame.len());
                let mut labels: FxHashMap<PredicateId, Vec<TermId>> = FxHashMap::default();
                for element in frame {
                    labels
                        .entry(element.predicate)
                        .or_default()
                        .push(element.lemma);
                }
                let conjoined = labels.into_iter().map(|(p, l)| (p, system.terms.and(&l)));
                let labels = conjoined.collect();
                let mut model = window(system, &steps, k, Some(&labels), smt, cx)?;
                complete_by_reachability(system, &reachability, &mut model);
                return Ok(Verdict::Sat(model));
            }
            Pushed::Next(next, steps) => (frame, n) = (next, steps),
        }
        k = (k + 1).min(n + 1);
    }
}

/// The first frame: no query has an answer. Queries have no locals.
fn excluded_queries(system: &System, steps: &Steps) -> Vec<Element> {
    let terms = &system.terms;
    let mut frame = Vec::new();
    for predicate in steps.predicates() {
        for &query in steps.queries(predicate) {
            let shape = &steps.all[query];
            let params = system.predicate(predicate).params.iter().copied();
            let map = shape.vars.iter().copied().zip(params).collect();
            let cube = terms.conjuncts(terms.substitute(shape.formula, &map));
            frame.push(Element {
                predicate,
                lemma: terms.not(terms.and(&cube)),
                counterexample: Some(Rc::new(Link {
                    predicate,
                    cube,
                    onward: Onward::Query(query),
                })),
                score: 1.0,
            });
        }
    }
    frame
}

/// The predicate that queries with locals became the only steps to.
struct Ending {
    predicate: PredicateId,
}

/// A system without locals in queries about predicates; what is added, if anything.
fn with_ending(system: &System) -> (System, Option<Ending>) {
    let mut single = system.clone();
    let with_locals = |clause: &&mut alphorn_chc::Clause| {
        clause.head.is_none() && !clause.body.is_empty() && !clause.locals(&system.terms).is_empty()
    };
    let predicate = PredicateId(single.predicates.len() as u32);
    let atom = Atom {
        predicate,
        args: Vec::new(),
    };
    let mut found = false;
    for clause in single.clauses.iter_mut().filter(with_locals) {
        clause.head = Some(atom.clone());
        found = true;
    }
    if !found {
        return (single, None);
    }
    let added = single.add_predicate("query", &[]);
    debug_assert_eq!(added, predicate);
    single.add_clause(vec![atom], TermId::TRUE, None);
    (single, Some(Ending { predicate }))
}

impl Ending {
    /// The verdict about the system as it was.
    fn back(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Sat(mut model) => {
                model.definitions.remove(&self.predicate);
                Verdict::Sat(model)
            }
            Verdict::Unsat(Refutation { mut steps }) => {
                let is_ending = |fact: &alphorn_witness::Fact| fact.predicate == self.predicate;
                let ended = steps
                    .iter()
                    .position(|s| s.fact.as_ref().is_some_and(is_ending));
                if let Some(last) = ended {
                    steps.truncate(last + 1);
                    steps[last].fact = None;
                }
                Verdict::Unsat(Refutation { steps })
            }
            unknown => unknown,
        }
    }
}
