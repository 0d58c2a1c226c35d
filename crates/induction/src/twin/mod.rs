//! The integer twin: clauses over words as clauses over integers.
//!
//! Most systems of bit-vectors read like programs over integers with the sort exchanged: sums,
//! multiples and comparisons of words that seldom wrap. What engines do best, linear lemmas, hulls,
//! polyhedra, acceleration, they do for integers. So each word becomes the integer that it is with a
//! sign (`translate`), and the *twin* of the system goes through the passes and to other engines, by
//! the registry and their trait, as any system does.
//!
//! # The procedure
//!
//! - At first numbers have no range, so nothing wraps: that is easiest to solve. A model is a hint:
//!   each clause is asked whether it holds with wraps, over integers, which is linear arithmetic, and
//!   where that has no answer, over words (`back`). A refutation counts if evaluation over words
//!   confirms it.
//! - The clauses that do not hold, or whose steps words do not take, become *exact*: a sum that may
//!   leave the range of its words is reduced. For a part of the time this twin is solved, and so on.
//! - When that does not end, all clauses are exact; then a model is a model.
//! - A model speaks of sums of words that are extended until nothing wraps; nothing is left of the
//!   conversions between words and integers.
//!
//! # Sources
//!
//! Words as integers with bounds: Backeman, Rümmer, Zeljić, "Interpolating bit-vector formulas using
//! uninterpreted predicates and Presburger arithmetic" (FMSD 2021), where casts are made precise
//! within one proof. Here whole clauses are, between runs, since our engines ask many small
//! questions. Refinement where a proof or a counterexample needs it: Bryant, Kroening, Ouaknine,
//! Seshia, Strichman, Brady, "Deciding bit-vector arithmetic with abstraction" (TACAS 2007).
//!
//! # Invariant
//!
//! A model is given only if every clause over words was seen to hold, or is one whose twin is exact;
//! a refutation only when evaluation over words confirmed it.

mod back;
mod range;
#[cfg(test)]
mod tests;
mod translate;

use std::rc::Rc;
use std::time::Duration;

use self::translate::{Semantics, Twin, translate};
use alphorn_chc::{Atom, Clause, Shape, System};
use alphorn_engine::derived::Derived;
use alphorn_engine::schedule::{Limit, Schedule, Slot, slot};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Registry, Unsupported, driver};
use alphorn_proof::{Stop, confirm, incomplete, weaken};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::{Context, Reason};
use alphorn_term::{TermId, evaluate};
use alphorn_transform::Pipeline;
use alphorn_witness::{Model, Refutation, RefutationStep, Verdict};

/// The passes before the translation.
const BEFORE: &str = "cone,simplify";

/// The passes for a twin.
const PASSES: &str = "default";

/// Work for the question whether a clause holds, over integers and over words each; without an
/// answer it becomes exact.
const QUESTION: Duration = Duration::from_secs(1);

/// The turn of a twin that has clauses without ranges.
const FREE: Slot<()> = slot((), 0.6, LONG);

/// An engine's turn for a twin.
#[derive(Clone, Copy)]
struct Turn {
    engine: &'static str,
    /// Whether the costly passes run before it.
    costly: bool,
}

const fn turn(engine: &'static str, costly: bool, share: f64, limit: Limit) -> Slot<Turn> {
    slot(Turn { engine, costly }, share, limit)
}

const SHORT: Limit = Limit::Time(Duration::from_millis(200));
const SECOND: Limit = Limit::Time(Duration::from_secs(1));
const LONG: Limit = Limit::Time(Duration::from_secs(300));

/// The engines that solve a twin.
const SCHEDULE: Schedule<Turn> = &[
    turn("bmc", false, 0.05, SHORT),
    turn("pdr", false, 0.1, SHORT),
    turn("trl", false, 0.1, SHORT),
    turn("bmc", true, 0.05, SECOND),
    turn("trl", true, 0.1, SECOND),
    turn("kind", true, 0.05, SECOND),
    turn("templates", true, 0.1, SECOND),
    turn("pdr", true, 0.8, LONG),
    turn("vinta", true, 0.6, LONG),
    turn("pdr", true, 1.0, LONG),
];

/// The engine.
#[derive(Clone)]
pub struct TwinEngine {
    /// The engines for the integers.
    pub engines: Registry,
}

impl Engine for TwinEngine {
    fn name(&self) -> &'static str {
        "twin"
    }

    /// Systems without words are not for it.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        let what = match shape.theories {
            t if !t.bitvec => "systems without bit-vectors",
            t if t.array => "arrays",
            t if t.datatype => "datatypes",
            t if t.quantifier => "quantifiers",
            _ => return Ok(()),
        };
        Err(self.unsupported(what))
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        Vec::new()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        self.supports(&Shape::of(system))?;
        let mut passes = Pipeline::parse(BEFORE).expect("the list names passes");
        let (words, ways) = passes.run(system.clone(), cx);
        let verdict = match self.search(&words, cx) {
            Ok(verdict) => verdict,
            Err(stop) => driver::verdict(stop, cx)?,
        };
        Ok(driver::back_translate(&ways, verdict, cx))
    }
}

impl TwinEngine {
    fn unsupported(&self, what: &str) -> Unsupported {
        Unsupported {
            engine: self.name(),
            what: what.to_owned(),
        }
    }

    /// Solves twins: one without ranges, then each with more exact clauses than the one before.
    fn search(&self, words: &System, cx: &mut Context) -> Result<Verdict, Stop> {
        let mut twin = translate(words, Semantics::Free, cx).map_err(incomplete)?;
        let exact = translate(words, Semantics::Exact, cx).map_err(incomplete)?;
        for round in 1.. {
            cx.stats.set("twin.rounds", round);
            cx.stats.set("twin.exact", twin.exact() as u64);
            let verdict = match twin.is_exact() {
                true => self.solve_twin(&twin, cx)?,
                false => {
                    let part = FREE.budget(&cx.budget);
                    match cx.within(part, |cx| self.solve_twin(&twin, cx)) {
                        Err(Stop::Reason(reason)) => Verdict::Unknown(reason),
                        verdict => verdict?,
                    }
                }
            };
            let (wrong, reason) = match self.judged(words, &twin, &exact, verdict, cx)? {
                Judged::Holds(verdict) => return Ok(verdict),
                Judged::Wrong(clauses, reason) => (clauses, reason),
            };
            if let Some(stop) = cx.stop() {
                return Err(Stop::Reason(stop));
            }
            if twin.is_exact() {
                return Err(Stop::Reason(reason));
            }
            log::debug!(
                "twin: of {} clauses {} are wrong",
                words.clauses.len(),
                wrong.len()
            );
            let wrong = match wrong.iter().all(|&at| twin.says_all[at]) {
                true => (0..words.clauses.len()).collect(),
                false => wrong,
            };
            let smt = Smt::within(&cx.budget);
            for at in wrong {
                twin.sharpen(at, &exact, &smt);
            }
        }
        unreachable!("in each round one more clause is exact")
    }

    /// What a twin's verdict says of words.
    fn judged(
        &self,
        words: &System,
        twin: &Twin,
        exact: &Twin,
        verdict: Verdict,
        cx: &mut Context,
    ) -> Result<Judged, Stop> {
        let found = match verdict {
            Verdict::Sat(model) => model,
            Verdict::Unsat(refutation) => {
                let Some(refutation) = back::refutation(words, twin, &refutation) else {
                    return Ok(Judged::wrong("a derivation without values"));
                };
                let wrong = wrong_steps(words, &refutation);
                if !wrong.is_empty() {
                    let reason = Reason::Incomplete("a derivation without wraps".to_owned());
                    return Ok(Judged::Wrong(wrong, reason));
                }
                let smt = Smt::within(&cx.budget);
                return Ok(match confirm(words, refutation, &smt, cx) {
                    Verdict::Unknown(reason) => Judged::Wrong(Vec::new(), reason),
                    verdict => Judged::Holds(verdict),
                });
            }
            Verdict::Unknown(reason) => return Ok(Judged::Wrong(Vec::new(), reason)),
        };
        let Some(model) = back::model(twin, &found) else {
            return Ok(Judged::wrong("a model that words cannot express"));
        };
        let hint = Hint {
            words: (words, &model),
            integers: (&twin.system, &found),
            exact: &exact.system,
        };
        let failing = hint.failing(&twin.says_all, cx)?;
        if !failing.is_empty() {
            let reason = Reason::Incomplete("a model without wraps".to_owned());
            return Ok(Judged::Wrong(failing, reason));
        }
        let smaller = self.smaller(&hint, twin, cx);
        Ok(Judged::Holds(Verdict::Sat(smaller.unwrap_or(model))))
    }

    /// A model that says less: what is known of sums that wrap may have large numbers in it, with
    /// which words are hard to check. What is not needed of a hint is, for words, if a clause that is
    /// not exact no longer holds. None where that takes too long, or nothing wraps.
    fn smaller(&self, hint: &Hint, twin: &Twin, cx: &mut Context) -> Option<Model> {
        let (system, found) = hint.integers;
        if twin.exact() == 0 || system.clauses.iter().any(|c| c.body.len() > 1) {
            return None;
        }
        let smt = Smt::within(&cx.budget);
        let smaller = Model {
            definitions: weaken(system, &found.definitions, &smt, cx)?,
            ..Model::default()
        };
        let model = back::model(twin, &smaller)?;
        let hint = Hint {
            words: (hint.words.0, &model),
            integers: (system, &smaller),
            exact: hint.exact,
        };
        let failing = hint.failing(&twin.says_all, cx);
        failing.is_ok_and(|f| f.is_empty()).then_some(model)
    }

    /// Lets engines have turns.
    fn solve_twin(&self, twin: &Twin, cx: &mut Context) -> Result<Verdict, Stop> {
        let mut derived = Some(Derived::new(
            self.engines,
            twin.system.clone(),
            PASSES,
            false,
            cx,
        ));
        let mut costly = false;
        let mut last = None;
        for slot in SCHEDULE {
            let turn = slot.turn;
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            let Some(small) = derived.take() else { break };
            let small = match turn.costly && !costly {
                true => small.go_on(PASSES, cx),
                false => small,
            };
            costly |= turn.costly;
            let part = slot.budget(&cx.budget);
            let verdict = small.ask(turn.engine, part, cx)?;
            derived = Some(small);
            match verdict {
                Verdict::Unknown(reason) => last = Some(reason),
                verdict => return Ok(verdict),
            }
        }
        let none = || Reason::Incomplete("no engine decides the twin".to_owned());
        Err(Stop::Reason(cx.stop().or(last).unwrap_or_else(none)))
    }
}

/// What a verdict of a twin is for words.
enum Judged {
    Holds(Verdict),
    /// Nothing yet: these clauses leave out too much, or let in too much.
    Wrong(Vec<usize>, Reason),
}

impl Judged {
    /// For a reason that no clause is to blame for.
    fn wrong(reason: &str) -> Judged {
        Judged::Wrong(Vec::new(), Reason::Incomplete(reason.to_owned()))
    }
}

/// A model of a twin, said of words and of integers.
struct Hint<'a> {
    words: (&'a System, &'a Model),
    integers: (&'a System, &'a Model),
    /// The twin in which all clauses say all.
    exact: &'a System,
}

impl Hint<'_> {
    /// The clauses that are not exact and for which the model was not seen to hold.
    fn failing(&self, says_all: &[bool], cx: &mut Context) -> Result<Vec<usize>, Stop> {
        let smt = Smt::within(&cx.budget);
        let mut failing = Vec::new();
        for at in (0..says_all.len()).filter(|&at| !says_all[at]) {
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            let mut ask = |clause: &Clause, model| {
                let question = cx.budget.about(QUESTION);
                cx.within(question, |_| counterexample(clause, model, &smt))
            };
            let answer = match ask(&self.exact.clauses[at], self.integers) {
                SatResult::Unknown(_) => ask(&self.words.0.clauses[at], self.words),
                answer => answer,
            };
            if answer != SatResult::Unsat {
                failing.push(at);
            }
        }
        Ok(failing)
    }
}

/// Whether a clause does not hold in a model of a system with the same predicates.
fn counterexample(clause: &Clause, model: (&System, &Model), smt: &Rc<Smt>) -> SatResult {
    let (system, model) = model;
    let meaning = |atom: &Atom| {
        let definition = model.definitions.get(&atom.predicate);
        system.instantiate(definition.copied().unwrap_or(TermId::TRUE), atom)
    };
    let mut solver = smt.solver();
    solver.assert(clause.constraint);
    for atom in &clause.body {
        solver.assert(meaning(atom));
    }
    if let Some(head) = &clause.head {
        solver.assert(system.terms.not(meaning(head)));
    }
    solver.check(&[])
}

/// The clauses of a derivation whose constraints its values do not satisfy.
fn wrong_steps(words: &System, refutation: &Refutation) -> Vec<usize> {
    let index = words.clause_index();
    let holds = |at: usize, step: &RefutationStep| {
        let constraint = words.clauses[at].constraint;
        evaluate(&words.terms, constraint, &step.values) == Some(TermId::TRUE)
    };
    let steps = refutation.steps.iter();
    let mut wrong: Vec<usize> = steps
        .filter_map(|step| Some((*index.get(&step.clause)?, step)))
        .filter_map(|(at, step)| (!holds(at, step)).then_some(at))
        .collect();
    wrong.sort_unstable();
    wrong.dedup();
    wrong
}
