//! What engines for linear systems share: steps, their unrolling, reached states.
//!
//! Invariant: nothing here decides; who uses it says `Sat` or `Unsat`, and checks.

pub(super) mod reach;
pub(super) mod steps;
pub(super) mod unroll;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use self::steps::{Instance, Origin, Steps};
use self::unroll::{Trace, literal};
use super::{EngineError, Unsupported};
use crate::chc::{Reachability, Shape, System};
use crate::proof::confirm;
use crate::run::Context;
use crate::run::Reason;
use crate::smt::{Arithmetic, SatResult, Smt, SmtModel, Solver};
use crate::term::{Assignment, TermId};
use crate::witness::{Fact, Model, Refutation, RefutationStep, Verdict};

/// Why a search ends without an answer of its own.
pub(super) enum Stop {
    Reason(Reason),
    Error(EngineError),
}

impl From<EngineError> for Stop {
    fn from(error: EngineError) -> Self {
        Stop::Error(error)
    }
}

/// A limit of the engine.
pub(super) fn incomplete(what: impl Into<String>) -> Stop {
    Stop::Reason(Reason::Incomplete(what.into()))
}

/// A defect, or an oracle whose model we cannot read.
pub(super) fn failed(message: &str) -> EngineError {
    EngineError::Failed {
        step: "reading a run off a model",
        message: message.to_owned(),
    }
}

/// Linear clauses over Booleans, numbers and bit-vectors, without quantifiers.
pub(super) fn supports(engine: &'static str, shape: &Shape) -> Result<(), Unsupported> {
    let what = match shape.theories {
        _ if !shape.linear => "clauses with several body atoms",
        t if t.array => "arrays",
        t if t.datatype => "datatypes",
        t if t.quantifier => "quantifiers",
        _ => return Ok(()),
    };
    Err(Unsupported {
        engine,
        what: what.to_owned(),
    })
}

/// Runs an engine that supports the system, with a context of Z3's that is watched; by its older
/// simplex if asked. A refutation is confirmed.
pub(super) fn run(
    engine: &'static str,
    system: &System,
    simplex: bool,
    cx: &mut Context,
    decide: impl FnOnce(&Rc<Smt>, &mut Context) -> Result<Verdict, Stop>,
) -> Result<Verdict, EngineError> {
    supports(engine, &Shape::of(system))?;
    let smt = Smt::within(&cx.budget);
    if simplex {
        smt.set_arithmetic(Arithmetic::Simplex);
    }
    let result = decide(&smt, cx);
    let (queries, time) = smt.usage();
    cx.stats.add(&format!("{engine}.queries"), queries);
    cx.stats.add_time(&format!("{engine}.smt"), time);
    match result {
        Ok(Verdict::Unsat(refutation)) => Ok(confirm(system, refutation, &smt, cx)),
        Ok(verdict) => Ok(verdict),
        Err(Stop::Reason(reason)) => Ok(Verdict::Unknown(reason)),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// A model of what the solver holds under the assumptions; `None` when there is none.
pub(super) fn ask(
    solver: &mut Solver,
    assumptions: &[TermId],
    cx: &Context,
) -> Result<Option<SmtModel>, Stop> {
    if let Some(reason) = cx.stop() {
        return Err(Stop::Reason(reason));
    }
    match solver.check(assumptions) {
        SatResult::Sat => {
            let model = solver.model();
            Ok(Some(model.ok_or_else(|| failed("no model"))?))
        }
        SatResult::Unsat => Ok(None),
        SatResult::Unknown(why) => match cx.stop() {
            Some(reason) => Err(Stop::Reason(reason)),
            None => Err(incomplete(format!("the oracle: {why}"))),
        },
    }
}

/// Values of variables in a model.
pub(super) fn values(model: &SmtModel, vars: &[TermId]) -> Result<Assignment, EngineError> {
    model.assignment(vars).map_err(|e| failed(&e.to_string()))
}

/// A query without body that has a solution.
pub(super) fn constraint(
    system: &System,
    steps: &Steps,
    solver: &mut Solver,
    cx: &Context,
) -> Result<Option<Trace>, Stop> {
    let terms = &system.terms;
    for &step in &steps.constraints {
        let on = literal(terms, "query");
        let instance = steps.instantiate(terms, step, on, std::iter::empty());
        solver.assert(terms.implies(on, instance.formula));
        if let Some(model) = ask(solver, &[on], cx)? {
            let values = values(&model, &instance.vars)?;
            let steps = vec![instance];
            return Ok(Some(Trace { steps, values }));
        }
        solver.assert(terms.not(on));
    }
    Ok(None)
}

/// An instance of a clause as the step after those found so far.
pub(super) fn clause_step(
    system: &System,
    steps: &Steps,
    clause: usize,
    instance: &Instance,
    values: &Assignment,
    found: usize,
) -> Result<RefutationStep, EngineError> {
    let clause = &system.clauses[clause];
    let own = steps.all[instance.step].vars.iter().zip(&instance.vars);
    let values = own
        .map(|(var, own)| Some((*var, *values.get(own)?)))
        .collect::<Option<Assignment>>()
        .ok_or_else(|| failed("a variable without value"))?;
    let fact = clause.head.as_ref().map(|head| Fact {
        predicate: head.predicate,
        values: head.args.iter().map(|v| values[v]).collect(),
    });
    let premises = match (clause.body.len(), found.checked_sub(1)) {
        (0, _) => Vec::new(),
        (_, Some(last)) => vec![last],
        (_, None) => return Err(failed("a step without premise")),
    };
    Ok(RefutationStep {
        clause: clause.id,
        values,
        premises,
        fact,
    })
}

/// The refutation that a run of clauses stands for.
pub(super) fn refutation(
    system: &System,
    steps: &Steps,
    trace: &Trace,
) -> Result<Refutation, Stop> {
    let mut found = Vec::with_capacity(trace.steps.len());
    for instance in &trace.steps {
        if let Origin::Clause(clause) = steps.all[instance.step].origin {
            let count = found.len();
            let step = clause_step(system, steps, clause, instance, &trace.values, count)?;
            found.push(step);
        }
    }
    Ok(Refutation { steps: found })
}

/// Gives the predicates off the ways from facts to queries what makes their clauses true.
pub(super) fn complete(system: &System, reachability: &Reachability, model: &mut Model) {
    for predicate in system.used_predicates() {
        let derivable = reachability.is_derivable(predicate);
        let definition = model.definitions.entry(predicate);
        definition.or_insert_with(|| system.terms.bool(derivable));
    }
}

/// Every definition negated.
pub(super) fn negated(system: &System, model: Model) -> Model {
    let terms = &system.terms;
    let definitions: FxHashMap<_, _> = model
        .definitions
        .into_iter()
        .map(|(predicate, formula)| (predicate, terms.not(formula)))
        .collect();
    Model { definitions }
}
