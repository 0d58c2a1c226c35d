//! Templates: formulas of simple forms are guessed from simulated states, and those that are
//! inductive together are an invariant.
//!
//! For systems with many Boolean arguments and modes, such as synchronous programs, whose
//! invariants say what holds in which mode. Engines that learn from single counterexamples find
//! such facts one by one, in terms of the query.
//!
//! 1. Queries are executed backwards from small inputs (`execution`), which refutes wrong relations
//!    between functions; at the end, if the templates prove too little, also from larger ones.
//! 2. Clauses are applied to facts at random (`simulation`), which may also reach a query.
//! 3. From the facts of each predicate, formulas are guessed that hold of all of them (`forms`):
//!    equations of numbers, of remainders in clauses, of products, and of bit-vectors modulo powers
//!    of two; bounds of the sums that clauses compare; and clauses of two literals. All but the
//!    last are also guessed under conditions: on a single argument, and for equations also
//!    comparisons.
//! 4. The largest inductive subset (`proof::facts`) is a model if it excludes the queries;
//!    otherwise it is left as lemmas to other engines. Guesses that were not proven with those of
//!    their kind are tried once more with all others.
//!
//! Sources: the invariant generation of Kind 2 (Kahsai, Garoche, Tinelli, Whalen, "Incremental
//! Verification with Mode Variable Invariants in State Machines", NFM 2012) and Daikon (Ernst et
//! al., 2007); affine equations of states as in guess-and-check (Sharma et al., ESOP 2013).
//!
//! Invariant: a model consists of facts that were proven to be inductive and to exclude the
//! queries; a refutation consists of derived facts.

mod execution;
mod forms;
mod limits;
mod simulation;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use self::execution::{Answers, Inputs};
use self::forms::forms;
use self::limits::LIMITS;
use self::simulation::Simulation;
use alphorn_chc::{Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::facts::{Checker, Facts, Lemmas};
use alphorn_proof::{Stop, incomplete};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::run::Context;
use alphorn_term::{Op, TermId};
use alphorn_witness::{Model, Verdict};

/// The engine `templates`.
#[derive(Clone, Debug, Default)]
pub struct Templates {
    lemmas: Lemmas,
}

impl Engine for Templates {
    fn name(&self) -> &'static str {
        "templates"
    }

    /// Equations over arrays and datatypes do not determine states, so these are not supported.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        let what = match shape.theories {
            t if t.array => "arrays",
            t if t.datatype => "datatypes",
            t if t.quantifier => "quantifiers",
            _ => return Ok(()),
        };
        Err(Unsupported {
            engine: self.name(),
            what: what.to_owned(),
        })
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        Vec::new()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        let mut lemmas = Lemmas::default();
        let result = driver::run(&*self, system, Arithmetic::Simplex, cx, |smt, cx| {
            decide(system, smt, &mut lemmas, cx)
        });
        self.lemmas = lemmas;
        result
    }

    fn lemmas(&mut self) -> Lemmas {
        std::mem::take(&mut self.lemmas)
    }
}

/// Runs the engine's steps; facts that do not suffice for a model become lemmas.
fn decide(
    system: &System,
    smt: &Rc<Smt>,
    lemmas: &mut Lemmas,
    cx: &mut Context,
) -> Result<Verdict, Stop> {
    let part = cx.remaining().map(|left| left / LIMITS.simulation_parts);
    let budget = part.map_or(cx.budget.clone(), |part| {
        let work = cx.budget.work(part);
        work.time(part.saturating_mul(LIMITS.time_per_work))
    });
    let (mut execution, mut answers) = (Simulation::new(system, smt), Answers::default());
    let refuted = execution.execute_queries(Inputs::Small, &mut answers, &budget);
    if let Some(refutation) = refuted {
        return Ok(Verdict::Unsat(refutation));
    }
    let mut simulation = Simulation::new(system, smt);
    if let Some(refutation) = simulation.run(LIMITS.states, &budget)? {
        return Ok(Verdict::Unsat(refutation));
    }
    cx.stats
        .set("templates.states", simulation.states.len() as u64);
    let mut checker = Checker::new(system, cx);
    if system.has_wide_bit_vectors() {
        checker = checker.with_query_work(LIMITS.bit_vector_query_work);
    }
    let forms = forms(system, &simulation, cx);
    // A guess that was not proven may need those that were proven later.
    let again = [&forms.equations, &forms.products, &forms.clauses];
    let again = again.map(Facts::clone);
    let stages = [
        ("equations", forms.equations),
        ("bounds", forms.bounds),
        ("products", forms.products),
        ("clauses", forms.clauses),
        ("again", union(again)),
    ];
    for (name, mut stage) in stages {
        for (predicate, candidates) in &mut stage {
            let known = checker.facts().get(predicate);
            candidates.retain(|guess| known.is_none_or(|known| !known.contains(guess)));
        }
        let guessed = count(&stage);
        cx.stats.set(&format!("templates.{name}"), guessed);
        let in_time = checker.prove(stage, cx);
        let proven = count(checker.facts());
        log::debug!("templates: {guessed} {name}, now {proven} facts are proven");
        cx.stats.set("templates.proven", proven);
        if let Some(needed) = checker.needed(cx) {
            return Ok(Verdict::Sat(model(system, needed)));
        }
        if !in_time {
            break;
        }
    }
    // No other engine finds a bug that only large inputs have.
    let refuted = execution.execute_queries(Inputs::Sweep, &mut answers, &cx.budget);
    if let Some(refutation) = refuted {
        return Ok(Verdict::Unsat(refutation));
    }
    checker.shorten(cx);
    for (predicate, facts) in checker.into_facts() {
        // Products in clauses are too hard for the other engines.
        let linear = facts.into_iter().filter(|&f| !has_products(system, f));
        lemmas.proven.extend(linear.map(|f| (predicate, f)));
    }
    lemmas.proven.sort_unstable();
    Err(incomplete("the templates do not prove the queries"))
}

/// The union by predicate.
fn union(all: [Facts; 3]) -> Facts {
    let mut found = Facts::default();
    for (predicate, facts) in all.into_iter().flatten() {
        found.entry(predicate).or_default().extend(facts);
    }
    found
}

/// Whether the formula has a product of two variables.
fn has_products(system: &System, formula: TermId) -> bool {
    let mut found = false;
    system.terms.post_order(&[formula], |t| {
        let is_var = |arg: &&TermId| system.terms.is_var(**arg);
        let args = system.terms.args(t);
        found |= *system.terms.op(t) == Op::Mul && args.iter().filter(is_var).count() > 1;
    });
    found
}

/// The number of facts.
fn count(facts: &Facts) -> u64 {
    facts.values().map(Vec::len).sum::<usize>() as u64
}

/// The model that conjoins the facts of each predicate.
fn model(system: &System, mut facts: Facts) -> Model {
    let define = |p| {
        let conjuncts = facts.remove(&p).unwrap_or_default();
        (p, system.terms.and(&conjuncts))
    };
    Model {
        definitions: system.used_predicates().into_iter().map(define).collect(),
        ..Model::default()
    }
}
