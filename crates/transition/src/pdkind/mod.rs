//! Property directed k-induction: separates reachability within some steps from induction over
//! several.
//!
//! For linear systems whose properties are k-inductive for some `k > 1`, for example timed systems
//! and protocols with rounds. After Jovanović, Dutertre, "Property-directed k-induction" (FMCAD
//! 2016).
//!
//! An induction frame has lemmas that hold within `n` steps from facts. `Push` (`push`) tests for
//! each lemma whether it holds at the end of `k` steps over which the whole frame holds (`runs`). A
//! run that violates it begins in a cube; frames as in IC3 (`frames`) either reach that cube within
//! `n` steps or explain why not, and the explanation joins the induction frame. When a whole frame
//! is pushed, it is k-inductive, and a window of `k` steps makes an inductive invariant of it
//! (`alphorn_proof::window`).
//!
//! Deviations:
//!
//! - A state is a predicate with its arguments; a formula is about one predicate. So an explanation
//!   about another predicate does not strengthen a lemma but joins the frame separately, and may be
//!   dropped if only that lemma needed it.
//! - Explanations are cores of a cube's literals, so no interpolating solver is needed.
//! - Queries with local variables become steps to a new predicate, which a query excludes.
//! - If a lemma is dropped, the next frame holds for one more step only; the paper searches for the
//!   first step at which the lemma fails.
//! - Counterexamples are chains of cubes with their steps, and a refutation is computed along a
//!   chain.
//! - A search that was stopped leaves its lemmas by level, and another begins with those that hold.
//!
//! Invariant: a model was checked by the queries of the window, and each step of a refutation by a
//! query.

mod chain;
mod frames;
mod limits;
mod push;
mod runs;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use self::chain::{Link, Onward, run_along};
use self::frames::{Frames, Reached};
use self::push::{Element, Push, Pushed};
use alphorn_chc::{Atom, PredicateId, Reachability, Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::facts::{Lemmas, Leveled};
use alphorn_proof::steps::Steps;
use alphorn_proof::trace::constraint_query;
use alphorn_proof::{Stop, complete_by_reachability, window};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Refutation, Verdict};

/// The engine `pdkind`.
#[derive(Clone, Debug, Default)]
pub struct Pdkind {
    /// The lemmas of the last frame, and with their levels those of a search that was stopped.
    lemmas: Lemmas,
    /// Those of an earlier search, to begin with.
    earlier: Vec<Leveled>,
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
        let earlier = std::mem::take(&mut self.earlier);
        let mut left = Lemmas::default();
        let result = driver::run(&*self, system, Arithmetic::Simplex, cx, |smt, cx| {
            let (single, ending) = with_ending(system);
            let verdict = decide(&single, smt, earlier, &mut left, cx)?;
            Ok(match ending {
                Some(ending) => ending.back(verdict),
                None => verdict,
            })
        });
        // Lemmas about the added predicate are removed.
        let is_own = |predicate: PredicateId| predicate.index() < system.predicates.len();
        left.candidates.retain(|lemma| is_own(lemma.0));
        left.frames.retain(|lemma| is_own(lemma.predicate));
        self.lemmas = left;
        result
    }

    fn lemmas(&mut self) -> Lemmas {
        std::mem::take(&mut self.lemmas)
    }

    fn resume(&mut self, earlier: Vec<Leveled>) {
        self.earlier = earlier;
    }

    fn resumes(&self) -> &'static [&'static str] {
        &["pdkind"]
    }
}

/// Decides a system whose queries have no local variables, beginning with `earlier` lemmas. `left`
/// receives the lemmas of the last frame, and without an answer all lemmas by level.
fn decide(
    system: &System,
    smt: &Rc<Smt>,
    earlier: Vec<Leveled>,
    left: &mut Lemmas,
    cx: &mut Context,
) -> Result<Verdict, Stop> {
    let reachability = Reachability::new(system);
    let steps = Steps::new(system, &reachability);
    let reversed = steps.reversed();
    if let Some(run) = constraint_query(system, &steps, &mut smt.solver(), cx)? {
        return Ok(Verdict::Unsat(run.refutation(system, &steps)?));
    }
    let mut frames = Frames::new(system, &steps, &reversed, smt);
    let search = || {
        let resumed = frames.begin_with(earlier, cx)?;
        let (mut n, mut k) = begin(&resumed);
        cx.stats.set("pdkind.lemmas-resumed", resumed.len() as u64);
        let mut frame = excluded_queries(system, &steps);
        for element in &frame {
            let Some(link) = &element.counterexample else {
                continue;
            };
            if let Reached::Yes { entry, first } = frames.reach(link.clone(), n, cx)? {
                let run = run_along(system, &steps, entry, &first, smt, cx)?;
                return Ok(Verdict::Unsat(run.refutation(system, &steps)?));
            }
        }
        let mut known: FxHashSet<_> = frame.iter().map(|e| (e.predicate, e.lemma)).collect();
        for lemma in &resumed {
            let is_new = known.insert((lemma.predicate, lemma.formula));
            if is_new && lemma.level as usize >= n {
                frame.push(Element {
                    predicate: lemma.predicate,
                    lemma: lemma.formula,
                    counterexample: None,
                    score: 1.0,
                });
            }
        }
        loop {
            cx.stats.set("pdkind.steps", n as u64);
            cx.stats.set("pdkind.k", k as u64);
            cx.stats.set("pdkind.frame", frame.len() as u64);
            cx.stats.set("pdkind.lemmas", frames.count as u64);
            log::debug!("frame of {}: n = {n}, k = {k}", frame.len());
            left.candidates = frame.iter().map(|e| (e.predicate, e.lemma)).collect();
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
    };
    let result = search();
    if result.is_err() {
        left.frames = frames.lemmas();
    }
    result
}

/// The numbers of steps of the first frame, and of its induction: with lemmas of an earlier search, those
/// up to which the best of them hold, and at least as many as that search can have had for it.
fn begin(resumed: &[Leveled]) -> (usize, usize) {
    let n = resumed.iter().map(|lemma| lemma.level as usize).max();
    let n = n.unwrap_or(0);
    // A frame adds one step to the induction, and at most its steps before to those of the frame.
    let k = (1..).find(|k| k * (k - 1) / 2 >= n).unwrap_or(1);
    (n, k)
}

/// The first frame: the negation of each query, which have no local variables.
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

/// The added predicate, to which queries with local variables became steps.
struct Ending {
    predicate: PredicateId,
}

/// A system without local variables in queries that have a body atom, and the added predicate, if
/// any.
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
    /// The verdict about the system without the added predicate.
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
