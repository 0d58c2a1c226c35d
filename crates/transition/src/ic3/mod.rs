//! IC3 on bits, for linear clauses over Booleans and bit-vectors; lemmas are about single bits.
//!
//! Papers: Bradley, "SAT-based model checking without unrolling" (VMCAI 2011); Eén, Mishchenko,
//! Brayton, "Efficient implementation of property directed reachability" (FMCAD 2011); Hassan,
//! Bradley, Somenzi, "Better generalization in IC3" (FMCAD 2013).
//!
//! Clauses become a guard and functions of bits (`steps`), which are gates of a graph
//! (`alphorn_bits`); SAT solvers contain the gates that their queries need (`level`). States that
//! lead to a query are obligations. A SAT solver finds a predecessor, and its irrelevant bits are
//! removed (`lift`). A cube into which no step leads from the level below becomes a lemma after
//! generalization (`search`). Lemmas are pushed to higher levels (`frames`). If those of a level
//! are closed under all steps, they are the model, in which adjacent bits of a bit-vector are
//! written as an extraction (`model`). The inputs along the obligations from a fact are a
//! derivation, by evaluation. A search may begin with the lemmas of an earlier one that was stopped.
//!
//! Deviations:
//!
//! - A state belongs to a predicate, and a lemma is about one predicate. There is no initial cube:
//!   facts are steps without a state before them, and at level 0 there are no other steps. So a
//!   lemma holds of the facts because no step leads into the cube that it excludes.
//! - A clause need not be a function: variables that it does not define are inputs, and the guard
//!   constrains them. A state is lifted along one implicant of the clause, in which more variables
//!   are defined.
//!
//! Invariant: an error in the translation to bits cannot make a wrong answer. A derivation is
//! returned after evaluation of the terms has confirmed it (`driver::run`), and a model is checked
//! by the caller.

mod frames;
mod level;
mod lift;
mod limits;
mod model;
mod options;
mod search;
mod steps;
#[cfg(test)]
mod tests;

pub use self::options::Options;

use std::rc::Rc;

use self::frames::Lemma;
use self::model::{cube, formula, model};
use self::search::{End, Search, Taken};
use self::steps::Steps;
use alphorn_chc::{Reachability, Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::facts::{Lemmas, Leveled};
use alphorn_proof::trace::{MAX_STEPS, too_many_steps};
use alphorn_proof::{Stop, complete_by_reachability};
use alphorn_smt::Arithmetic;
use alphorn_term::Assignment;
use alphorn_term::run::Context;
use alphorn_witness::{Fact, Refutation, RefutationStep, Verdict};

/// A bit of a state with a value: twice its position, plus one if it is false.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Latch(u32);

impl Latch {
    /// The bit at a position, which is false if `negated`.
    fn new(place: usize, negated: bool) -> Latch {
        Latch(2 * place as u32 + u32::from(negated))
    }

    /// The position in the state.
    fn place(self) -> usize {
        (self.0 / 2) as usize
    }

    /// Whether the bit is false.
    fn is_negated(self) -> bool {
        self.0 % 2 == 1
    }
}

/// The states of a predicate in which some bits have certain values; in ascending order.
type Cube = Vec<Latch>;

/// The engine `ic3`.
#[derive(Clone, Debug, Default)]
pub struct Ic3 {
    /// The settings.
    pub options: Options,
    /// The lemmas of a search that was stopped.
    lemmas: Lemmas,
    /// Those of an earlier one, to begin with.
    earlier: Vec<Leveled>,
}

impl Ic3 {
    /// The error that something is not supported.
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
            t if t.int || t.real => Err(self.unsupported("integer or real arithmetic")),
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
        let earlier = cubes(system, std::mem::take(&mut self.earlier));
        let mut left = Vec::new();
        let verdict = driver::run(&*self, system, Arithmetic::default(), cx, |_, cx| {
            let mut search = Search::new(steps, &self.options, cx);
            let end = search.run(earlier, cx);
            search.count(cx);
            if end.is_err() {
                left = leveled(system, search.lemmas());
            }
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
        });
        self.lemmas.frames = left;
        verdict
    }

    fn lemmas(&mut self) -> Lemmas {
        std::mem::take(&mut self.lemmas)
    }

    fn resume(&mut self, earlier: Vec<Leveled>) {
        self.earlier = earlier;
    }

    fn resumes(&self) -> &'static [&'static str] {
        &["ic3"]
    }
}

/// Lemmas with their levels as formulas.
fn leveled<'a>(system: &System, lemmas: impl Iterator<Item = (usize, &'a Lemma)>) -> Vec<Leveled> {
    let lemmas = lemmas.map(|(level, lemma)| Leveled {
        predicate: lemma.predicate,
        formula: formula(system, lemma),
        level: level as u32,
    });
    lemmas.collect()
}

/// The lemmas that formulas are, with their levels; those of another form are left out.
fn cubes(system: &System, earlier: Vec<Leveled>) -> Vec<(usize, Lemma)> {
    let lemmas = earlier.into_iter().filter_map(|lemma| {
        let params = &system.predicate(lemma.predicate).params;
        let cube = cube(&system.terms, params, lemma.formula)?;
        let (predicate, cube) = (lemma.predicate, Rc::from(cube));
        Some((lemma.level as usize, Lemma { predicate, cube }))
    });
    lemmas.collect()
}

/// The derivation that begins with the step `first` and continues along obligations, with the
/// values given by their inputs.
fn derivation(system: &System, search: &mut Search, first: Taken) -> Result<Refutation, Stop> {
    let mut found = Refutation::default();
    let mut state: Vec<bool> = Vec::new();
    let mut next = Some(first);
    while let Some(Taken {
        step,
        branch,
        inputs,
        then,
    }) = next
    {
        if found.steps.len() == MAX_STEPS {
            return Err(too_many_steps());
        }
        let (values, after) = search.steps.values(step, &branch, &state, &inputs);
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
