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
//! - At first numbers have no range, for a part of the time: that is easiest to solve. A model is a
//!   hint (see below), and a refutation counts if evaluation over words confirms it.
//! - Then no sum may leave the range of its words. That leaves out derivations, so a refutation
//!   counts, and a model is a hint: each clause is asked whether it holds with wraps, over integers,
//!   which is linear arithmetic, and where that has no answer, over words (`back`).
//! - The clauses that do not hold are *guarded*: a query asks for the states from which a sum of the
//!   clause wraps. Most programs have none, and a model that says so is one for words. For a part of
//!   the time the twin is solved again.
//! - What is left is *exact*, as is a clause whose sums do wrap: a sum is reduced by a multiple of the
//!   words' size, with a variable for how often it wraps. A model of guarded and exact clauses only
//!   is a model.
//! - A model speaks of sums of words that are extended until nothing wraps; nothing is left of the
//!   conversions between words and integers.
//!
//! # Sources
//!
//! Words as integers with bounds: Backeman, Rümmer, Zeljić, "Interpolating bit-vector formulas using
//! uninterpreted predicates and Presburger arithmetic" (FMSD 2021), where casts are made precise
//! within one proof. Here whole clauses are, between runs, since our engines ask many small
//! questions. Under-approximation by restricted words: Bryant, Kroening, Ouaknine, Seshia, Strichman,
//! Brady, "Deciding bit-vector arithmetic with abstraction" (TACAS 2007).
//!
//! # Invariant
//!
//! A model is given only if every clause over words was seen to hold, or is one whose twin is exact or
//! guarded;
//! a refutation only when evaluation over words confirmed it.

mod back;
mod range;
#[cfg(test)]
mod tests;
mod translate;

use std::rc::Rc;
use std::time::Duration;

use self::translate::{Semantics, Twin, translate};
use super::derived::Derived;
use super::settings::Setting;
use super::{Engine, EngineError, Unsupported, driver};
use crate::chc::{Atom, Clause, Shape, System};
use crate::proof::{Stop, confirm, incomplete, weaken};
use crate::run::{Budget, Context, Reason};
use crate::smt::{SatResult, Smt};
use crate::term::TermId;
use crate::transform::Pipeline;
use crate::witness::{Model, Verdict};

/// The passes before the translation.
const BEFORE: &str = "cone,simplify";

/// The passes for a twin.
const PASSES: &str = "default";

/// After so many rounds all clauses are exact.
const ROUNDS: usize = 6;

/// Work for the question whether a clause holds, over integers and over words each; without an
/// answer it is guarded.
const QUESTION: Duration = Duration::from_secs(1);

/// What a twin of numbers without ranges may take.
const FREE: (f64, Duration) = (0.25, LONG);

/// What a twin with guarded clauses may take.
const GUARDED: (f64, Duration) = (0.4, LONG);

/// An engine's turn for a twin.
struct Turn {
    engine: &'static str,
    /// Whether the passes that cost time run before it.
    costly: bool,
    /// Its share of the time that is left,
    share: f64,
    /// and how much at most.
    most: Duration,
}

const fn turn(engine: &'static str, costly: bool, share: f64, most: Duration) -> Turn {
    Turn {
        engine,
        costly,
        share,
        most,
    }
}

const MOMENT: Duration = Duration::from_millis(200);
const SECOND: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(300);

/// Who tries to solve a twin.
const TURNS: &[Turn] = &[
    turn("bmc", false, 0.05, MOMENT),
    turn("pdr", false, 0.1, MOMENT),
    turn("trl", false, 0.1, MOMENT),
    turn("bmc", true, 0.05, SECOND),
    turn("trl", true, 0.1, SECOND),
    turn("kind", true, 0.05, SECOND),
    turn("templates", true, 0.1, SECOND),
    turn("pdr", true, 0.6, LONG),
    turn("vinta", true, 0.6, LONG),
    turn("pdr", true, 1.0, LONG),
];

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct TwinEngine;

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
        Ok(driver::way_back(&ways, verdict, cx))
    }
}

impl TwinEngine {
    fn unsupported(&self, what: &str) -> Unsupported {
        Unsupported {
            engine: self.name(),
            what: what.to_owned(),
        }
    }

    /// Solves twins: one without ranges, then one without wraps, then each with more clauses that say
    /// all than the one before.
    fn search(&self, words: &System, cx: &mut Context) -> Result<Verdict, Stop> {
        let mut semantics = vec![Semantics::Free; words.clauses.len()];
        let all = vec![Semantics::Exact; words.clauses.len()];
        let exact = translate(words, &all, cx).map_err(incomplete)?.system;
        for round in 1.. {
            cx.stats.set("twin.rounds", round);
            for (name, kind) in [
                ("twin.guarded", Semantics::Guarded),
                ("twin.exact", Semantics::Exact),
            ] {
                let count = semantics.iter().filter(|&&s| s == kind).count();
                cx.stats.set(name, count as u64);
            }
            let twin = translate(words, &semantics, cx).map_err(incomplete)?;
            let free = round == 1;
            let share = match free {
                true => FREE,
                false => GUARDED,
            };
            let verdict = match twin.guards.is_empty() && !free {
                true => self.solve_twin(&twin, cx)?,
                false => {
                    let part = part(&cx.budget, share);
                    match cx.within(part, |cx| self.solve_twin(&twin, cx)) {
                        Err(Stop::Reason(reason)) => Verdict::Unknown(reason),
                        verdict => verdict?,
                    }
                }
            };
            let found = match verdict {
                Verdict::Unsat(refutation) if free => {
                    log::debug!("twin: a refutation without ranges");
                    semantics.fill(Semantics::NoWraps);
                    let Some(refutation) = back::refutation(words, &twin, &refutation) else {
                        continue;
                    };
                    let smt = Smt::within(&cx.budget);
                    match confirm(words, refutation, &smt, cx) {
                        Verdict::Unknown(_) => continue,
                        verdict => return Ok(verdict),
                    }
                }
                Verdict::Unknown(_) if free && cx.stop().is_none() => {
                    semantics.fill(Semantics::NoWraps);
                    continue;
                }
                Verdict::Unsat(refutation) => {
                    let last = refutation.steps.last();
                    if let Some(wraps) = last.and_then(|step| twin.guarded_by(step.clause)) {
                        log::debug!("twin: clause {wraps} wraps");
                        semantics[wraps] = Semantics::Exact;
                        continue;
                    }
                    let refutation = back::refutation(words, &twin, &refutation)
                        .ok_or_else(|| incomplete("a derivation without values"))?;
                    let smt = Smt::within(&cx.budget);
                    return Ok(confirm(words, refutation, &smt, cx));
                }
                Verdict::Unknown(reason) if twin.guards.is_empty() || cx.stop().is_some() => {
                    return Err(Stop::Reason(cx.stop().unwrap_or(reason)));
                }
                Verdict::Unknown(_) => {
                    log::debug!("twin: {} clauses may wrap", twin.guards.len());
                    for at in &twin.guards {
                        semantics[*at] = Semantics::Exact;
                    }
                    continue;
                }
                Verdict::Sat(model) => model,
            };
            let model = match back::model(&twin, &found) {
                Some(model) => model,
                None if free => {
                    semantics.fill(Semantics::NoWraps);
                    continue;
                }
                None => return Err(incomplete("a model that words cannot express")),
            };
            let hint = Hint {
                words: (words, &model),
                integers: (&twin.system, &found),
                exact: &exact,
            };
            let failing = hint.failing(&semantics, cx)?;
            log::debug!(
                "twin: of {} clauses {} do not hold",
                words.clauses.len(),
                failing.len()
            );
            if failing.is_empty() {
                let smaller = self.smaller(&hint, &twin, &semantics, cx);
                return Ok(Verdict::Sat(smaller.unwrap_or(model)));
            }
            if free {
                semantics.fill(Semantics::NoWraps);
                continue;
            }
            for at in failing {
                semantics[at] = match round as usize >= ROUNDS {
                    true => Semantics::Exact,
                    false => Semantics::Guarded,
                };
            }
            if round as usize >= ROUNDS {
                semantics.fill(Semantics::Exact);
            }
        }
        unreachable!("in each round one more clause says all")
    }

    /// A model that says less: what is known of sums that wrap may have large numbers in it, with
    /// which words are hard to check. What is not needed of a hint is, for words, if a clause that is
    /// not exact no longer holds. None where that takes too long, or nothing wraps.
    fn smaller(
        &self,
        hint: &Hint,
        twin: &Twin,
        semantics: &[Semantics],
        cx: &mut Context,
    ) -> Option<Model> {
        let (system, found) = hint.integers;
        let wraps = semantics.contains(&Semantics::Exact);
        if !wraps || system.clauses.iter().any(|c| c.body.len() > 1) {
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
        let failing = hint.failing(semantics, cx);
        failing.is_ok_and(|f| f.is_empty()).then_some(model)
    }

    /// Lets engines have turns.
    fn solve_twin(&self, twin: &Twin, cx: &mut Context) -> Result<Verdict, Stop> {
        let mut derived = Some(Derived::new(twin.system.clone(), PASSES, false, cx));
        let mut costly = false;
        let mut last = None;
        for turn in TURNS {
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            let Some(small) = derived.take() else { break };
            let small = match turn.costly && !costly {
                true => small.go_on(PASSES, cx),
                false => small,
            };
            costly |= turn.costly;
            let part = part(&cx.budget, (turn.share, turn.most));
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

/// A share of what is left, and no more than this.
fn part(budget: &Budget, (share, most): (f64, Duration)) -> Budget {
    let share = budget.left().map(|left| left.mul_f64(share));
    budget.time(share.map_or(most, |share| share.min(most)))
}

/// A model of a twin, said of words and of integers.
struct Hint<'a> {
    words: (&'a System, &'a Model),
    integers: (&'a System, &'a Model),
    /// The twin in which all clauses say all.
    exact: &'a System,
}

impl Hint<'_> {
    /// The clauses that leave out wraps and for which the model was not seen to hold.
    fn failing(&self, semantics: &[Semantics], cx: &mut Context) -> Result<Vec<usize>, Stop> {
        let smt = Smt::within(&cx.budget);
        let mut failing = Vec::new();
        for (at, &kind) in semantics.iter().enumerate() {
            if !matches!(kind, Semantics::NoWraps | Semantics::Free) {
                continue;
            }
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
