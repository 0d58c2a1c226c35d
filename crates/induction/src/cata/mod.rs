//! Catamorphisms: terms of datatypes are replaced by values of folds.
//!
//! A fold (catamorphism) maps each term to a vector of integers or Booleans, its code, by its
//! constructor and the codes of its fields: the length of a list, the sum of a tree, the state of a
//! tree automaton. Papers: "Catalia" (arXiv 2507.20726), abstraction of algebraic datatypes by
//! catamorphisms with refinement by spurious counterexamples; finite codes after RInGen (Kostyukov,
//! Mordvinov, Fedyukovich, "Beyond the elementary representations of program invariants over
//! algebraic data types", PLDI 2021).
//!
//! # Procedure
//!
//! - An *encoder* defines the codes of the datatypes, and what holds of all codes (`proof::folds`).
//! - The *system of codes* has codes as arguments in place of terms. It goes through the passes and
//!   to `pdr` and other engines, by the registry and their trait. A model of it gives a model of
//!   the clauses, with recursive functions for the codes and a certificate for the lemmas about
//!   them.
//! - A refutation of it may be spurious. One query asks whether the clauses along it have a
//!   derivation over terms; if so, that is a refutation. If not, only encoders that exclude it are
//!   tried.
//! - Encoders come from *templates*, in turns that get longer: without a code, by sizes, by the
//!   functions of one term that the clauses define, by counts of constructors and sums of fields,
//!   by the least and the greatest integer, by several of these. After a spurious counterexample,
//!   some encoders that exclude all of these so far have shorter turns: values, or counts and sums,
//!   in which deeper parts have another weight.
//! - Finite codes are sought separately (`automata`): one query asks for a tree automaton and a
//!   relation of its states for each predicate that satisfy all clauses. There is a short attempt
//!   after sizes, and a longer one when all encoders have had a turn.
//! - After that, the clauses with codes *beside* their terms, which the pass `folds` makes, have
//!   turns as well; both answers for these are answers for the clauses.
//!
//! # Deviations
//!
//! - Counts and sums together are the Parikh image of a term. Any weighted sum is linear in them,
//!   so the engine for arithmetic finds the weights, and no search for coefficients is needed. If
//!   the code of a field is also multiplied, the same holds for each choice of these factors, and
//!   only they are enumerated (`Maker::multiples`), where the paper solves for all at once.
//! - States are vectors of Booleans rather than numbers, so that every vector is a state, and
//!   Boolean fields and arguments are part of them. Atoms over numbers are unconstrained there, but
//!   equal for the same atom of a clause.
//! - Functions that the file defines are codes from the start. If they look at the root of a field
//!   or at its parts, these are components, too.
//!
//! # Invariant
//!
//! A model is returned only from a system of codes that follows from the clauses; a refutation only
//! after evaluation has confirmed it.
//! when evaluation confirmed it.

mod automata;
mod limits;
#[cfg(test)]
mod tests;

use std::rc::Rc;
use std::time::Duration;

use self::automata::automaton;
use self::limits::LIMITS;
use alphorn_chc::{Shape, System};
use alphorn_engine::derived::Derived;
use alphorn_engine::schedule::{Limit, Schedule, slot};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Registry, Unsupported, driver};
use alphorn_proof::folds::{Abstraction, Encoder, Maker, Template};
use alphorn_proof::{Derivation, DerivationStep, Stop, ask, confirm, incomplete, weaken};
use alphorn_smt::Smt;
use alphorn_term::run::{Context, Reason};
use alphorn_transform::Pipeline;
use alphorn_witness::{Model, Refutation, Verdict};

/// The passes before the encoding. Further ones obscure the functions that the clauses define.
const BEFORE: &str = "cone,records,simplify";

/// The passes for a system of codes.
const PASSES: &str = "default";

/// The passes for the system with codes beside its terms.
const BESIDE: &str = "folds,cone,records,constructors,simplify,propagate,subsume,inline,control,\
                      slice,split,narrow,invariants";

/// The first turn of an encoder; each further one is twice as long.
const TURN: Duration = Duration::from_millis(800);

/// The engines that solve a system of codes, with their shares of a turn.
const SCHEDULE: Schedule<&str> = &[
    slot("pdr", 0.8, Limit::None),
    slot("trl", 0.2, Limit::None),
    slot("kind", 0.1, Limit::None),
];

/// The engine `cata`.
#[derive(Clone)]
pub struct Cata {
    /// The engines for systems of codes.
    pub engines: Registry,
}

impl Engine for Cata {
    fn name(&self) -> &'static str {
        "cata"
    }

    /// Systems with recursive datatypes only.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        driver::supports_datatypes(self.name(), shape)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        Vec::new()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        self.supports(&Shape::of(system))?;
        let terms = &system.terms;
        let is_recursive = |id| terms.sized(terms.datatype_sort(id)).is_some();
        if !terms.datatype_ids().any(is_recursive) {
            let what = "systems without recursive datatypes".to_owned();
            let engine = self.name();
            return Err(Unsupported { engine, what }.into());
        }
        let mut passes = Pipeline::parse(BEFORE).expect("the list names passes");
        let (small, ways) = passes.run(system.clone(), cx);
        let verdict = match Search::new(self.engines, &small, cx).run(cx) {
            Ok(verdict) => verdict,
            Err(stop) => driver::verdict(stop, cx)?,
        };
        Ok(driver::back_translate(&ways, verdict, cx))
    }
}

/// A spurious derivation by codes: for each step its clause's index, and its earlier steps.
type Spurious = Vec<(usize, Vec<usize>)>;

/// An encoder, and the state of its system of codes.
struct Attempt {
    template: Template,
    encoder: Encoder,
    abstraction: Abstraction,
    /// The system after passes; `None` if the encoder is not precise enough.
    derived: Option<Derived>,
    /// Whether the costly passes have run.
    costly: bool,
}

/// The search for an encoder that is precise enough.
struct Search<'a> {
    engines: Registry,
    system: &'a System,
    smt: Rc<Smt>,
    maker: Maker,
    attempts: Vec<Attempt>,
    spurious: Vec<Spurious>,
}

impl<'a> Search<'a> {
    /// A search without attempts.
    fn new(engines: Registry, system: &'a System, cx: &mut Context) -> Self {
        let smt = Smt::within(&cx.budget);
        let maker = Maker::new(system, &smt, cx);
        Search {
            engines,
            system,
            smt,
            maker,
            attempts: Vec::new(),
            spurious: Vec::new(),
        }
    }

    /// Runs the turns until there is an answer.
    fn run(&mut self, cx: &mut Context) -> Result<Verdict, Stop> {
        for template in Template::ORDER {
            if template == Template::All
                && let Some(verdict) = self.multiples(cx)?
            {
                return Ok(verdict);
            }
            if let Some(encoder) = self.maker.encoder(template, cx)
                && let Some(verdict) = self.begin(template, encoder, cx)?
            {
                return Ok(verdict);
            }
            if template == Template::Sizes
                && let Some(model) = self.automata(LIMITS.automaton_work[0], cx)?
            {
                return Ok(Verdict::Sat(model));
            }
        }
        if let Some(model) = self.automata(LIMITS.automaton_work[1], cx)? {
            return Ok(Verdict::Sat(model));
        }
        let mut beside = Some(Derived::new(
            self.engines,
            self.system.clone(),
            BESIDE,
            false,
            cx,
        ));
        let mut turn = TURN;
        while beside.is_some() || !self.attempts.is_empty() {
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            turn *= 2;
            if let Some(derived) = beside.take() {
                match derived.solve_by("pdr", cx.budget.time(turn), cx)? {
                    Verdict::Unknown(Reason::Timeout) => beside = Some(derived),
                    Verdict::Unknown(_) => {}
                    verdict => {
                        cx.stats.set("cata.by.beside", 1);
                        return Ok(verdict);
                    }
                }
            }
            for mut attempt in std::mem::take(&mut self.attempts) {
                if !self.excludes(&attempt.abstraction, cx)? {
                    continue;
                }
                if let Some(verdict) = self.turn(&mut attempt, turn, cx)? {
                    return Ok(verdict);
                }
                if attempt.derived.is_some() {
                    self.attempts.push(attempt);
                }
            }
        }
        Err(incomplete("codes are not precise enough"))
    }

    /// Tries encoders with factors if a spurious counterexample shows that counts and sums do not
    /// suffice.
    fn multiples(&mut self, cx: &mut Context) -> Result<Option<Verdict>, Stop> {
        let before = self.attempts.len();
        let budget = cx.budget.work(LIMITS.factor_work);
        for template in self.maker.multiples() {
            let is_enough = self.attempts.len() >= before + LIMITS.factor_encoders;
            if self.spurious.is_empty() || is_enough || budget.is_spent() {
                break;
            }
            if let Some(encoder) = self.maker.encoder(template, cx)
                && let Some(verdict) = self.begin(template, encoder, cx)?
            {
                return Ok(Some(verdict));
            }
        }
        Ok(None)
    }

    /// The first turn of an encoder, unless it allows a known spurious derivation.
    fn begin(
        &mut self,
        template: Template,
        encoder: Encoder,
        cx: &mut Context,
    ) -> Result<Option<Verdict>, Stop> {
        cx.stats.add("cata.encoders", 1);
        let stopped = || Stop::Reason(cx.stop().unwrap_or(Reason::Timeout));
        let abstraction = Abstraction::new(self.system, &encoder, cx).ok_or_else(stopped)?;
        if !self.excludes(&abstraction, cx)? {
            log::debug!("cata: {} are not precise enough", template.name());
            return Ok(None);
        }
        let derived = Derived::new(self.engines, abstraction.system.clone(), PASSES, false, cx);
        let mut attempt = Attempt {
            template,
            encoder,
            abstraction,
            derived: Some(derived),
            costly: false,
        };
        let length = match template {
            Template::Multiples(_) => TURN / 2,
            _ => TURN,
        };
        let verdict = self.turn(&mut attempt, length, cx)?;
        if attempt.derived.is_some() {
            self.attempts.push(attempt);
        }
        Ok(verdict)
    }

    /// Runs engines for a turn. An attempt whose codes are not precise enough loses its system.
    fn turn(
        &mut self,
        attempt: &mut Attempt,
        length: Duration,
        cx: &mut Context,
    ) -> Result<Option<Verdict>, Stop> {
        for slot in SCHEDULE {
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            let Some(derived) = attempt.derived.take() else {
                return Ok(None);
            };
            let derived = match length > TURN && !attempt.costly {
                true => derived.run_passes(PASSES, cx),
                false => derived,
            };
            attempt.costly |= length > TURN;
            let engine = slot.turn;
            let part = slot.budget_in_round(&cx.budget, length);
            let verdict = derived.solve_by(engine, part, cx)?;
            attempt.derived = Some(derived);
            log::debug!(
                "cata: {} by {engine}: {}",
                attempt.template.name(),
                outcome(&verdict)
            );
            match verdict {
                Verdict::Unknown(_) | Verdict::Proven(_) => {}
                Verdict::Sat(model) => {
                    let by = attempt.template.name();
                    let model = self.model(&attempt.abstraction, &attempt.encoder, model, cx);
                    cx.stats.set(&format!("cata.by.{by}"), 1);
                    return model.map(|model| Some(Verdict::Sat(model)));
                }
                Verdict::Unsat(refutation) => {
                    attempt.derived = None;
                    return self.real(&attempt.abstraction, &refutation, cx);
                }
            }
        }
        Ok(None)
    }

    /// The model of the clauses from a model of the system of codes.
    fn model(
        &self,
        abstraction: &Abstraction,
        encoder: &Encoder,
        mut model: Model,
        cx: &Context,
    ) -> Result<Model, Stop> {
        let system = &abstraction.system;
        if system.clauses.iter().all(|c| c.body.len() <= 1)
            && let Some(smaller) = weaken(system, &model.definitions, &self.smt, cx)
        {
            model.definitions = smaller;
        }
        let functions = encoder
            .functions()
            .ok_or_else(|| incomplete("a datatype without values"))?;
        Ok(abstraction.model(&model, encoder, &functions, self.system))
    }

    /// A model by finite codes, if one is found with this work for each number of bits.
    fn automata(&self, work: Duration, cx: &mut Context) -> Result<Option<Model>, Stop> {
        for bits in 1..=LIMITS.automaton_bits {
            let part = cx.budget.work(work);
            let found = cx.within(part, |cx| automaton(self.system, bits, cx));
            if let Some((encoder, abstraction, model)) = found {
                cx.stats.set("cata.by.automata", bits as u64);
                return self.model(&abstraction, &encoder, model, cx).map(Some);
            }
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
        }
        Ok(None)
    }

    /// The verdict if a refutation by codes is one of the clauses; otherwise it is recorded as
    /// spurious.
    fn real(
        &mut self,
        abstraction: &Abstraction,
        refutation: &Refutation,
        cx: &mut Context,
    ) -> Result<Option<Verdict>, Stop> {
        cx.stats.add("cata.refutations", 1);
        let index = abstraction.system.clause_index();
        let steps: Spurious = refutation
            .steps
            .iter()
            .map(|step| (index[&step.clause], step.premises.clone()))
            .collect();
        if steps.len() > LIMITS.derivation_steps {
            return Ok(None);
        }
        let part = cx.budget.about(LIMITS.derivation_work);
        let found = cx.within(part, |cx| -> Result<Option<Refutation>, Stop> {
            let mut derivation = derivation(self.system, &steps, &self.smt);
            let model = ask(&mut derivation.solver, &[], cx)?;
            let refutation = model.map(|model| derivation.refutation(&model));
            refutation.transpose()
        });
        match found {
            Ok(Some(refutation)) => {
                let verdict = confirm(self.system, refutation, &self.smt, cx);
                Ok(matches!(verdict, Verdict::Unsat(_)).then_some(verdict))
            }
            Ok(None) => {
                cx.stats.add("cata.spurious", 1);
                self.spurious.push(steps);
                Ok(None)
            }
            // The query had no answer in time.
            Err(Stop::Reason(_)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Whether the codes exclude all known spurious derivations.
    fn excludes(&self, abstraction: &Abstraction, cx: &mut Context) -> Result<bool, Stop> {
        for steps in &self.spurious {
            let part = cx.budget.about(LIMITS.derivation_work);
            let answer = cx.within(part, |cx| -> Result<bool, Stop> {
                let mut derivation = derivation(&abstraction.system, steps, &self.smt);
                Ok(ask(&mut derivation.solver, &[], cx)?.is_some())
            });
            let open = match answer {
                Ok(open) => open,
                Err(Stop::Reason(_)) => false,
                Err(failure) => return Err(failure),
            };
            if open {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The derivation along these steps, in the system or in that of codes, whose clauses correspond.
fn derivation<'s>(system: &'s System, steps: &Spurious, smt: &Rc<Smt>) -> Derivation<'s> {
    let step = |(clause, premises): &(usize, Vec<usize>)| DerivationStep {
        clause: *clause,
        premises: premises.clone(),
    };
    let clauses: Vec<usize> = steps.iter().map(|s| s.0).collect();
    Derivation::new(
        system,
        steps.iter().map(step).collect(),
        smt,
        |step, map| {
            let constraint = system.clauses[clauses[step]].constraint;
            vec![system.terms.substitute(constraint, map)]
        },
    )
}

/// The verdict for the log.
fn outcome(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Sat(_) => "a model".to_owned(),
        Verdict::Proven(_) => "a proof without a model".to_owned(),
        Verdict::Unsat(refutation) => format!("{} steps", refutation.steps.len()),
        Verdict::Unknown(reason) => reason.to_string(),
    }
}
