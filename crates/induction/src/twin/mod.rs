//! The integer twin: clauses over bit-vectors as clauses over integers.
//!
//! Most systems over bit-vectors resemble programs over integers: sums, multiples and comparisons
//! that rarely wrap. Engines find linear lemmas, hulls, polyhedra and accelerations best over
//! integers. So each bit-vector becomes its signed or unsigned value (`readings`, `translate`), and
//! the *twin* of the system goes through the passes and to other engines, by the registry and their
//! trait.
//!
//! # Procedure
//!
//! - At first numbers have no range, so nothing wraps; that is easiest to solve. A model is a hint:
//!   for each clause a query asks whether it holds with wrapping, over integers, which is linear
//!   arithmetic, and if that has no answer, over bit-vectors (`back`). A refutation counts if
//!   evaluation over bit-vectors confirms it.
//! - The clauses that do not hold, or whose steps are wrong for bit-vectors, become *exact*: a sum
//!   that may leave the range of its bit-vectors is reduced. This twin is solved for a part of the
//!   time, and so on.
//! - When all clauses are exact, a model of the twin is a model.
//! - Asked again about the same clauses, the engine goes on (`state`): with the twins that it had,
//!   after their passes, and `pdr` from its frames. Short turns are repeated only if they are longer.
//! - A model mentions sums of bit-vectors that are extended until nothing wraps; no conversion
//!   between bit-vectors and integers is left.
//!
//! # Sources
//!
//! Bit-vectors as integers with bounds: Backeman, Rümmer, Zeljić, "Interpolating bit-vector
//! formulas using uninterpreted predicates and Presburger arithmetic" (FMSD 2021), where casts are
//! made precise within one proof. Here whole clauses are made precise between runs, since our
//! engines ask many small questions. Refinement where a proof or a counterexample needs it: Bryant,
//! Kroening, Ouaknine, Seshia, Strichman, Brady, "Deciding bit-vector arithmetic with abstraction"
//! (TACAS 2007).
//!
//! # Invariant
//!
//! A model is returned only if every clause is exact or was checked to hold over bit-vectors; a
//! refutation only after evaluation over bit-vectors has confirmed it.

mod back;
mod limits;
mod range;
mod readings;
mod state;
#[cfg(test)]
mod tests;
mod translate;

use std::rc::Rc;
use std::time::Duration;

use self::limits::LIMITS;
use self::state::{Level, Search, State};
use self::translate::Twin;
use alphorn_chc::{Atom, Clause, Shape, System};
use alphorn_engine::derived::Derived;
use alphorn_engine::schedule::{Limit, Schedule, Slot, slot};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Registry, Unsupported, driver};
use alphorn_proof::{Stop, confirm, weaken};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::{Context, Reason};
use alphorn_term::{TermId, evaluate};
use alphorn_witness::{Model, Refutation, RefutationStep, Verdict};

/// The passes for a twin.
const PASSES: &str = "default";

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

/// The engine `twin`.
pub struct TwinEngine {
    /// The engines for the integers.
    pub engines: Registry,
    /// What the last search left.
    state: Option<State>,
}

impl Engine for TwinEngine {
    fn name(&self) -> &'static str {
        "twin"
    }

    /// Systems with bit-vectors only.
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
        let mut state = match self.state.take().filter(|state| state.is_about(system)) {
            Some(state) => {
                cx.stats.add("twin.resumed", 1);
                state
            }
            None => match State::new(system, cx) {
                Ok(state) => state,
                Err(stop) => return driver::verdict(stop, cx),
            },
        };
        let verdict = match self.search(&mut state, cx) {
            Ok(verdict) => driver::back_translate(&state.ways, verdict, cx),
            Err(stop) => driver::verdict(stop, cx)?,
        };
        if matches!(verdict, Verdict::Unknown(_)) {
            self.state = Some(state);
        }
        Ok(verdict)
    }

    fn goes_on(&self) -> bool {
        self.state.is_some()
    }
}

impl TwinEngine {
    /// The engine, with these engines for the integers.
    pub fn new(engines: Registry) -> TwinEngine {
        TwinEngine {
            engines,
            state: None,
        }
    }

    fn unsupported(&self, what: &str) -> Unsupported {
        Unsupported {
            engine: self.name(),
            what: what.to_owned(),
        }
    }

    /// Solves twins: one without ranges, then each with more exact clauses than the one before. One
    /// for which there was no verdict stays for the next search, and the exact one is next.
    fn search(&self, state: &mut State, cx: &mut Context) -> Result<Verdict, Stop> {
        let mut at = 0;
        loop {
            let level = &mut state.levels[at];
            state.rounds += 1;
            cx.stats.set("twin.rounds", state.rounds);
            cx.stats.set("twin.exact", level.twin.exact() as u64);
            let verdict = match level.twin.is_exact() {
                true => self.solve_twin(level, cx)?,
                false => {
                    let part = FREE.budget(&cx.budget);
                    match cx.within(part, |cx| self.solve_twin(level, cx)) {
                        Err(Stop::Reason(reason)) => Verdict::Unknown(reason),
                        verdict => verdict?,
                    }
                }
            };
            let is_open = matches!(verdict, Verdict::Unknown(_));
            let bit_vectors = &state.bit_vectors;
            let (mut wrong, reason) =
                match self.checked(bit_vectors, &level.twin, &state.exact, verdict, cx)? {
                    Checked::Holds(verdict) => return Ok(verdict),
                    Checked::Wrong(clauses, reason) => (clauses, reason),
                };
            if let Some(stop) = cx.stop() {
                return Err(Stop::Reason(stop));
            }
            if level.twin.is_exact() {
                return Err(Stop::Reason(reason));
            }
            log::debug!(
                "twin: of {} clauses {} are wrong",
                bit_vectors.clauses.len(),
                wrong.len()
            );
            wrong.retain(|&at| !level.twin.exact_clauses[at]);
            let smt = Smt::within(&cx.budget);
            if wrong.is_empty() {
                // No clause is known to be wrong, so all are made exact.
                if state.levels.len() == 1 {
                    let exact = state.levels[0].sharpened(&state.exact, &smt);
                    state.levels.push(exact);
                }
                match is_open {
                    true => at = 1,
                    false => drop(state.levels.remove(0)),
                }
            } else {
                level.sharpen(wrong, &state.exact, &smt);
                if level.twin.is_exact() {
                    state.levels.truncate(1);
                }
            }
        }
    }

    /// Checks a twin's verdict over bit-vectors.
    fn checked(
        &self,
        bit_vectors: &System,
        twin: &Twin,
        exact: &Twin,
        verdict: Verdict,
        cx: &mut Context,
    ) -> Result<Checked, Stop> {
        let found = match verdict {
            Verdict::Sat(model) => model,
            Verdict::Proven(_) => return Ok(Checked::wrong("a proof without a model")),
            Verdict::Unsat(refutation) => {
                let Some(refutation) = back::refutation(bit_vectors, twin, &refutation) else {
                    return Ok(Checked::wrong("a derivation lacks values"));
                };
                let wrong = wrong_steps(bit_vectors, &refutation);
                if !wrong.is_empty() {
                    let reason = Reason::Incomplete("a derivation ignores wrapping".to_owned());
                    return Ok(Checked::Wrong(wrong, reason));
                }
                let smt = Smt::within(&cx.budget);
                return Ok(match confirm(bit_vectors, refutation, &smt, cx) {
                    Verdict::Unknown(reason) => Checked::Wrong(Vec::new(), reason),
                    verdict => Checked::Holds(verdict),
                });
            }
            Verdict::Unknown(reason) => return Ok(Checked::Wrong(Vec::new(), reason)),
        };
        let Some(model) = back::model(twin, &found) else {
            return Ok(Checked::wrong(
                "a model cannot be expressed with bit-vectors",
            ));
        };
        let hint = Hint {
            bit_vectors: (bit_vectors, &model),
            integers: (&twin.system, &found),
            exact: &exact.system,
        };
        let failing = hint.failing(&twin.exact_clauses, cx)?;
        if !failing.is_empty() {
            let reason = Reason::Incomplete("a model ignores wrapping".to_owned());
            return Ok(Checked::Wrong(failing, reason));
        }
        let smaller = self.smaller(&hint, twin, cx);
        Ok(Checked::Holds(Verdict::Sat(smaller.unwrap_or(model))))
    }

    /// A weaker model: lemmas about sums that wrap may have large numbers, and over bit-vectors
    /// these are hard to check. A part of the hint that the integers do not need is needed over
    /// bit-vectors if some clause that is not exact fails without it. `None` if that takes too
    /// long, or if no clause is exact.
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
            bit_vectors: (hint.bit_vectors.0, &model),
            integers: (system, &smaller),
            exact: hint.exact,
        };
        let failing = hint.failing(&twin.exact_clauses, cx);
        failing.is_ok_and(|f| f.is_empty()).then_some(model)
    }

    /// Runs the turns of the engines on the twin, from where the last search stopped.
    fn solve_twin(&self, level: &mut Level, cx: &mut Context) -> Result<Verdict, Stop> {
        let mut search = level.search.take().unwrap_or_default();
        let verdict = self.run_turns(&level.twin, &mut search, cx);
        level.search = search.derived.is_some().then_some(search);
        verdict
    }

    /// Runs the turns that are left. Passes that were cut short leave no derived system.
    fn run_turns(
        &self,
        twin: &Twin,
        search: &mut Search,
        cx: &mut Context,
    ) -> Result<Verdict, Stop> {
        let mut last = None;
        for (at, slot) in SCHEDULE.iter().enumerate() {
            let turn = slot.turn;
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            let length = slot.length(cx.remaining()).unwrap_or(Duration::MAX);
            if slot.limit != LONG && search.was_about_as_long(at, length) {
                continue;
            }
            let mut derived = match search.derived.take() {
                Some(derived) if !turn.costly || search.costly => derived,
                Some(derived) => derived.run_passes(PASSES, cx),
                None => Derived::new(self.engines, twin.system.clone(), PASSES, false, cx),
            };
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            search.costly |= turn.costly;
            let part = slot.budget(&cx.budget);
            let verdict = derived.go_on_by(turn.engine, part, cx)?;
            search.derived = Some(derived);
            match verdict {
                Verdict::Unknown(reason) => last = Some(reason),
                verdict => return Ok(verdict),
            }
            if cx.stop().is_none() {
                search.lengths.insert(at, length);
            }
        }
        let none = || Reason::Incomplete("no engine decides the twin".to_owned());
        Err(Stop::Reason(cx.stop().or(last).unwrap_or_else(none)))
    }
}

/// The result of checking a twin's verdict over bit-vectors.
enum Checked {
    /// The verdict holds.
    Holds(Verdict),
    /// It does not: these clauses exclude too much, or too little; and the reason.
    Wrong(Vec<usize>, Reason),
}

impl Checked {
    /// A wrong verdict that is due to no clause.
    fn wrong(reason: &str) -> Checked {
        Checked::Wrong(Vec::new(), Reason::Incomplete(reason.to_owned()))
    }
}

/// A model of a twin, over bit-vectors and over integers.
struct Hint<'a> {
    bit_vectors: (&'a System, &'a Model),
    integers: (&'a System, &'a Model),
    /// The twin in which all clauses are exact.
    exact: &'a System,
}

impl Hint<'_> {
    /// The clauses that are not exact and for which the model could not be proven.
    fn failing(&self, exact_clauses: &[bool], cx: &mut Context) -> Result<Vec<usize>, Stop> {
        let smt = Smt::within(&cx.budget);
        let mut failing = Vec::new();
        for at in (0..exact_clauses.len()).filter(|&at| !exact_clauses[at]) {
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            let mut ask = |clause: &Clause, model| {
                let question = cx.budget.about(LIMITS.clause_work);
                cx.within(question, |_| counterexample(clause, model, &smt))
            };
            let answer = match ask(&self.exact.clauses[at], self.integers) {
                SatResult::Unknown(_) => ask(&self.bit_vectors.0.clauses[at], self.bit_vectors),
                answer => answer,
            };
            if answer != SatResult::Unsat {
                failing.push(at);
            }
        }
        Ok(failing)
    }
}

/// Checks whether a clause has a counterexample in a model of a system with the same predicates.
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

/// The clauses of a derivation whose constraints its values violate.
fn wrong_steps(bit_vectors: &System, refutation: &Refutation) -> Vec<usize> {
    let index = bit_vectors.clause_index();
    let holds = |at: usize, step: &RefutationStep| {
        let constraint = bit_vectors.clauses[at].constraint;
        evaluate(&bit_vectors.terms, constraint, &step.values) == Some(TermId::TRUE)
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
