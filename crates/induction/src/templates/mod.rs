//! Templates that simulated states satisfy: formulas of simple forms are guessed from states that
//! are reached, and those that are inductive together are an invariant.
//!
//! For systems with many Boolean arguments and modes, such as synchronous programs, whose
//! invariants say what holds in which mode. Engines that learn from single counterexamples find
//! such facts one by one, in terms of whatever the query is about.
//!
//! First queries are executed backward from small inputs (`execution`), which refutes relations
//! between functions, and at the end, if the templates say too little, from larger ones. Then
//! clauses are applied to facts at random (`simulation`), which may come to a query, too. From the
//! facts of each predicate, formulas are made that hold of all of them (`forms`): equations of
//! numbers, of remainders that clauses mention, of products, and of words modulo powers of two;
//! bounds of the sums that clauses compare; and clauses of two literals. All but these also under
//! conditions: on a single argument, and equations in the cases that clauses compare arguments for.
//! The largest inductive subset (`proof/facts.rs`) is a model if it excludes the queries; else it is
//! left to the engines that come after. What was not proven alone is tried again with all the
//! others, once.
//!
//! After the invariant generation of Kind 2 (Kahsai, Garoche, Tinelli, Whalen, "Incremental
//! Verification with Mode Variable Invariants in State Machines", NFM 2012) and Daikon (Ernst et
//! al., 2007); affine equations of states as in guess-and-check (Sharma et al., ESOP 2013).
//!
//! Invariant: what is said to be a model passed all queries of being one, and a refutation is made
//! of facts that were derived.

mod execution;
mod forms;
mod simulation;
#[cfg(test)]
mod tests;

use std::rc::Rc;
use std::time::Duration;

use self::execution::{Answers, Inputs};
use self::forms::forms;
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

/// Facts that are derived before formulas are guessed, and the part of what is left for that. It is
/// work, as far as that takes no more than so many times as long: with half of the facts, hardly a
/// guess holds, and many small queries take more time than is counted.
const STATES: usize = 600;
const PART: u32 = 4;
const UNCOUNTED: u32 = 2;

/// What a query about words may take, as work: sums of them are hard to see through.
const WORDS: Duration = Duration::from_secs(1);

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Templates {
    lemmas: Lemmas,
}

impl Engine for Templates {
    fn name(&self) -> &'static str {
        "templates"
    }

    /// Equations of arrays and of datatypes are no help in fixing states.
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

fn decide(
    system: &System,
    smt: &Rc<Smt>,
    lemmas: &mut Lemmas,
    cx: &mut Context,
) -> Result<Verdict, Stop> {
    let part = cx.remaining().map(|left| left / PART);
    let budget = part.map_or(cx.budget.clone(), |part| {
        let work = cx.budget.work(part);
        work.time(part.saturating_mul(UNCOUNTED))
    });
    let (mut execution, mut answers) = (Simulation::new(system, smt), Answers::default());
    let refuted = execution.execute_queries(Inputs::Small, &mut answers, &budget);
    if let Some(refutation) = refuted {
        return Ok(Verdict::Unsat(refutation));
    }
    let mut simulation = Simulation::new(system, smt);
    if let Some(refutation) = simulation.run(STATES, &budget)? {
        return Ok(Verdict::Unsat(refutation));
    }
    cx.stats
        .set("templates.states", simulation.states.len() as u64);
    let mut checker = Checker::new(system, cx);
    if system.has_wide_words() {
        checker = checker.patient(WORDS);
    }
    let forms = forms(system, &simulation, cx);
    // What was not proven may need what came after it.
    let again = [&forms.equations, &forms.products, &forms.clauses];
    let again = again.map(Facts::clone);
    let stages = [
        ("equations", forms.equations),
        ("bounds", forms.bounds),
        ("products", forms.products),
        ("clauses", forms.clauses),
        ("again", together(again)),
    ];
    for (name, mut stage) in stages {
        for (predicate, guesses) in &mut stage {
            let known = checker.facts().get(predicate);
            guesses.retain(|guess| known.is_none_or(|known| !known.contains(guess)));
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
    // Nobody else comes to what is wrong for large inputs only.
    let refuted = execution.execute_queries(Inputs::Sweep, &mut answers, &cx.budget);
    if let Some(refutation) = refuted {
        return Ok(Verdict::Unsat(refutation));
    }
    checker.shorten(cx);
    for (predicate, facts) in checker.into_facts() {
        // With products in their clauses the other engines are lost.
        let linear = facts.into_iter().filter(|&f| !has_products(system, f));
        lemmas.proven.extend(linear.map(|f| (predicate, f)));
    }
    lemmas.proven.sort_unstable();
    Err(incomplete("the templates say too little"))
}

/// All of several facts.
fn together(all: [Facts; 3]) -> Facts {
    let mut found = Facts::default();
    for (predicate, facts) in all.into_iter().flatten() {
        found.entry(predicate).or_default().extend(facts);
    }
    found
}

fn has_products(system: &System, formula: TermId) -> bool {
    let mut found = false;
    system.terms.post_order(&[formula], |t| {
        let is_var = |arg: &&TermId| system.terms.is_var(**arg);
        let args = system.terms.args(t);
        found |= *system.terms.op(t) == Op::Mul && args.iter().filter(is_var).count() > 1;
    });
    found
}

fn count(facts: &Facts) -> u64 {
    facts.values().map(Vec::len).sum::<usize>() as u64
}

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
