//! IC3 on bits: lemmas about single bits of words, for linear clauses over Booleans and words.
//!
//! Papers: Bradley, "SAT-based model checking without unrolling" (VMCAI 2011); Eén, Mishchenko,
//! Brayton, "Efficient implementation of property directed reachability" (FMCAD 2011); Hassan,
//! Bradley, Somenzi, "Better generalization in IC3" (FMCAD 2013).
//!
//! Clauses become guards and functions of bits (`steps`), and these gates of a graph
//! (`alphorn_bits`) that SAT solvers know as far as they are asked (`level`). States that lead to a
//! query are obligations; a SAT solver finds the step before, and what of the state does not matter
//! is left out (`lift`). What no step leads to from the level below becomes a lemma, as weak as can be
//! found (`search`). Lemmas are pushed up the levels (`frames`). When those of a level are closed
//! under all steps, they are the model, bits of words side by side being written as extracted parts
//! (`model`). The inputs along obligations that a fact begins are a derivation, by evaluation.
//!
//! What differs from the papers:
//!
//! - A state belongs to a predicate, and a lemma speaks of one predicate. There is no initial cube:
//!   facts are steps without a state before them, level 0 allows no other, and so a lemma
//!   holds of the facts because no step leads into what it excludes.
//! - A clause need not be a function: what it does not define is an input, and its guard says what
//!   holds of it. A state is lifted along one implicant of the clause, on which more is defined.
//!
//! Invariant: bits are trusted for nothing. A derivation leaves when evaluation of the terms has
//! confirmed it, and a model is for the caller to check.

mod frames;
mod level;
mod lift;
mod model;
mod options;
mod search;
mod steps;
#[cfg(test)]
mod tests;

pub use self::options::Options;

use self::model::model;
use self::search::{End, Search, Taken};
use self::steps::Steps;
use alphorn_chc::{Reachability, Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::trace::{MAX_STEPS, too_many_steps};
use alphorn_proof::{Stop, complete_by_reachability};
use alphorn_smt::Arithmetic;
use alphorn_term::Assignment;
use alphorn_term::run::Context;
use alphorn_witness::{Fact, Refutation, RefutationStep, Verdict};

/// A bit of a state with a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Latch(u32);

impl Latch {
    fn new(place: usize, negated: bool) -> Latch {
        Latch(2 * place as u32 + u32::from(negated))
    }

    /// Position in the state.
    fn place(self) -> usize {
        (self.0 / 2) as usize
    }

    /// Whether the bit is false.
    fn is_negated(self) -> bool {
        self.0 % 2 == 1
    }
}

/// States in which some bits have certain values; in ascending order.
type Cube = Vec<Latch>;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Ic3 {
    pub options: Options,
}

impl Ic3 {
    fn unsupported(&self, what: impl Into<String>) -> Unsupported {
        Unsupported {
            engine: self.name(),
            what: what.into(),
        }
    }
}

impl Engine for Ic3 {
    fn name(&self) -> &'static str {
        "ic3"
    }

    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        driver::supports_linear(self.name(), shape)?;
        match shape.theories {
            t if t.int || t.real => Err(self.unsupported("numbers that are no words")),
            _ => Ok(()),
        }
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.options.settings()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        self.supports(&Shape::of(system))?;
        let reachability = Reachability::new(system);
        let steps = match Steps::new(system, &reachability, cx) {
            Ok(Ok(steps)) => steps,
            Ok(Err(error)) => return Err(self.unsupported(error.to_string()).into()),
            Err(stop) => return driver::verdict(stop, cx),
        };
        cx.stats.set("ic3.gates", steps.gates.len() as u64);
        cx.stats.set("ic3.bits", steps.state.len() as u64);
        driver::run(&*self, system, Arithmetic::default(), cx, |_, cx| {
            let mut search = Search::new(steps, &self.options, cx);
            let end = search.run(cx);
            search.count(cx);
            match end? {
                End::Closed(lemmas) => {
                    let mut model = model(system, &search.steps, &lemmas, cx)?;
                    complete_by_reachability(system, &reachability, &mut model);
                    Ok(Verdict::Sat(model))
                }
                End::Derivation(first) => {
                    let refutation = derivation(system, &mut search, first)?;
                    Ok(Verdict::Unsat(refutation))
                }
            }
        })
    }
}

/// The steps from a fact along obligations, with the values that their inputs give.
fn derivation(system: &System, search: &mut Search, first: Taken) -> Result<Refutation, Stop> {
    let mut found = Refutation::default();
    let mut state: Vec<bool> = Vec::new();
    let mut next = Some(first);
    while let Some(Taken {
        step,
        way,
        inputs,
        then,
    }) = next
    {
        if found.steps.len() == MAX_STEPS {
            return Err(too_many_steps());
        }
        let (values, after) = search.steps.values(step, &way, &state, &inputs);
        let step = &search.steps.all[step];
        let clause = &system.clauses[step.clause];
        let assignment: Assignment = values.into_iter().collect();
        let fact = clause.head.as_ref().map(|head| Fact {
            predicate: head.predicate,
            values: head.args.iter().map(|v| assignment[v]).collect(),
        });
        let premises = step.from.iter().map(|_| found.steps.len() - 1);
        found.steps.push(RefutationStep {
            clause: clause.id,
            premises: premises.collect(),
            values: assignment,
            fact,
        });
        state = after;
        next = then.map(|id| search.obligations[id].taken.clone());
    }
    Ok(found)
}
