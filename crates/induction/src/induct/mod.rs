//! Induction: predicates that are graphs of recursive functions are defined by these functions, and
//! the queries are then proven as theorems about functions.
//!
//! Clauses over datatypes are often a functional program written as relations, with a theorem as
//! the query. Where `p(x, y)` is `y = f(x)` for a function `f` that the clauses of `p` define
//! (`proof::functions`), the graph of `f` is the strongest model of these clauses, and a query
//! holds if a theorem about functions does. Such theorems need induction, which solvers do not do
//! inside a query; so the model comes with lemmas and their proofs, a certificate that the check of
//! the model follows step by step (`witness::certificate`).
//!
//! - **Statements** (`statement`): a query with its atoms replaced by their meanings, and outputs
//!   substituted by calls.
//! - **Proofs** (`prove`): calls whose measured arguments have known constructors are unfolded
//!   (`normal`), lemmas and the induction hypothesis are instantiated by matching, and a solver for
//!   uninterpreted functions, datatypes and arithmetic decides. Induction is on a variable that
//!   many calls need to be unfolded; within a case, further variables are split.
//! - **Lemmas**: if that is not enough, equations between small terms that hold on random values
//!   are proven, small ones first (`explore`), then generalizations of failed cases of the queries
//!   (`generalize`).
//!
//! Sources: recursion induction and the waterfall of Boyer and Moore ("A Computational Logic",
//! 1979), and theory exploration as in HipSpec. Deviations: no rewriting by lemmas, since the
//! solver's congruence closure uses ground instances; hypotheses are instantiated by matching,
//! which also finds values of accumulators.
//!
//! Invariant: `Sat` comes with definitions under which all clauses hold, and with a proof of each
//! query; the engine never answers `Unsat`.

mod explore;
mod generalize;
mod limits;
mod normal;
mod prove;
mod statement;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use rustc_hash::FxHashSet;

use self::explore::{Exploration, falsified, weight};
use self::generalize::{candidates, without_numerals};
use self::limits::LIMITS;
use self::prove::Prover;
use self::statement::Statement;
use alphorn_chc::{Shape, System};
use alphorn_engine::settings::Setting;
use alphorn_engine::{Engine, EngineError, Unsupported, driver};
use alphorn_proof::functions::{Definitions, define};
use alphorn_proof::{Stop, incomplete};
use alphorn_smt::{Arithmetic, Smt};
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_witness::{Model, Verdict};

/// The engine `induct`.
#[derive(Clone, Debug, Default)]
pub struct Induct;

impl Engine for Induct {
    fn name(&self) -> &'static str {
        "induct"
    }

    /// Systems with datatypes only.
    fn supports(&self, shape: &Shape) -> Result<(), Unsupported> {
        driver::supports_datatypes(self.name(), shape)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        Vec::new()
    }

    fn solve(&mut self, system: &System, cx: &mut Context) -> Result<Verdict, EngineError> {
        driver::run(&*self, system, Arithmetic::default(), cx, |smt, cx| {
            decide(system, smt, cx)
        })
    }
}

/// Defines the predicates by functions, and proves the queries.
fn decide(system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Result<Verdict, Stop> {
    let mut definitions = define(system, true, smt, cx);
    let mut goals = goals(system, &definitions);
    // The values that complete a partial relation may violate a query; then it stays partial.
    if definitions.partial && fails(system, &goals) {
        definitions = define(system, false, smt, cx);
        goals = self::goals(system, &definitions);
    }
    cx.stats
        .set("induct.relations", definitions.relations.len() as u64);
    if fails(system, &goals) {
        return Err(incomplete("a query does not hold of the functions"));
    }
    goals.sort_by_key(|g| weight(&system.terms, g));
    let lemmas = {
        let mut prover = Prover::new(&system.terms, smt, cx);
        let ranges = ranges(system, &definitions);
        let proven = prove_all(system, &mut prover, ranges, goals.clone(), cx);
        log::debug!("induct: {} lemmas", prover.lemmas.len());
        if !proven {
            let why = match cx.stop() {
                Some(reason) => Stop::Reason(reason),
                None => incomplete("no proof by induction was found"),
            };
            return Err(why);
        }
        prover.needed(&goals)
    };
    cx.stats.set("induct.lemmas", lemmas.len() as u64);
    let mut model = Model::default();
    for predicate in system.used_predicates() {
        let formula = match definitions.needed.contains(&predicate) {
            true => definitions.formula(system, predicate),
            false => TermId::TRUE,
        };
        model.definitions.insert(predicate, formula);
    }
    model.lemmas = lemmas;
    Ok(Verdict::Sat(model))
}

/// Whether some statement is false for random values.
fn fails(system: &System, goals: &[Statement]) -> bool {
    let tests = LIMITS.query_tests;
    let wrong = goals.iter().find(|g| falsified(&system.terms, g, tests));
    if let Some(wrong) = wrong {
        log::debug!("induct: a query fails: {}", show(system, wrong));
    }
    wrong.is_some()
}

/// The statements of the queries, and of the clauses of predicates that are defined as `false`.
fn goals(system: &System, definitions: &Definitions) -> Vec<Statement> {
    let is_goal = |clause: &usize| match &system.clauses[*clause].head {
        None => true,
        Some(head) => {
            definitions.needed.contains(&head.predicate)
                && definitions.formula(system, head.predicate) == TermId::FALSE
        }
    };
    let clauses = (0..system.clauses.len()).filter(is_goal);
    clauses
        .filter_map(|clause| Statement::of_query(system, definitions, clause))
        .collect()
}

/// Statements that values of functions are not negative, where this was found of their relations.
fn ranges(system: &System, definitions: &Definitions) -> Vec<Statement> {
    let terms = &system.terms;
    let not_negative = |t: TermId| terms.ge(t, terms.int(0));
    let ranges = definitions.ranges().into_iter().map(|(function, inputs)| {
        let params = &terms.function(function).params;
        let inputs = inputs
            .into_iter()
            .map(|i| not_negative(params[i]))
            .collect();
        Statement::new(terms, inputs, not_negative(terms.call(function, params)))
    });
    ranges.collect()
}

/// Proves the ranges of functions, then the goals, with lemmas if needed. Returns whether all goals
/// are proven.
fn prove_all(
    system: &System,
    prover: &mut Prover<'_>,
    ranges: Vec<Statement>,
    mut goals: Vec<Statement>,
    cx: &Context,
) -> bool {
    for range in ranges {
        prover.prove(&range, LIMITS.lemma_effort);
    }
    goals.retain(|goal| {
        log::debug!("induct: goal {}", show(system, goal));
        !prover.prove(goal, LIMITS.first_effort)
    });
    goals.retain(|goal| {
        let general = without_numerals(&system.terms, goal);
        let proven = general.iter().any(|g| prover.prove(g, LIMITS.first_effort));
        !(proven && prover.prove(goal, LIMITS.query_effort))
    });
    if goals.is_empty() {
        return true;
    }
    let Some(mut exploration) = Exploration::new(&system.terms, &goals) else {
        return false;
    };
    let mut tried: FxHashSet<Statement> = FxHashSet::default();
    // Candidates that were not proven are tried again with more lemmas.
    let mut failed: Vec<Statement> = Vec::new();
    for size in 1..=LIMITS.max_term_size {
        let mut candidates = exploration.next(cx);
        candidates.retain(|c| tried.insert(c.clone()));
        candidates.extend(std::mem::take(&mut failed));
        log::debug!("induct: {} equations of size {size}", candidates.len());
        let mut before = prover.lemmas.len();
        for candidate in candidates {
            if cx.stop().is_some() {
                return false;
            }
            if prover.is_known(&candidate) {
                continue;
            }
            if prover.prove(&candidate, LIMITS.lemma_effort) {
                log::debug!("induct: lemma {}", show(system, &candidate));
            } else {
                failed.push(candidate);
            }
            if prover.lemmas.len() >= before + LIMITS.lemmas_per_retry {
                before = prover.lemmas.len();
                goals.retain(|goal| !prover.prove(goal, LIMITS.query_effort));
                if goals.is_empty() {
                    return true;
                }
            }
        }
        if prover.lemmas.len() > before {
            goals.retain(|goal| !prover.prove(goal, LIMITS.query_effort));
        }
        let is_time = size == LIMITS.generalization_size;
        if goals.is_empty() || (is_time && generalize(system, prover, &mut goals, cx)) {
            return true;
        }
    }
    false
}

/// Tries generalizations of failed cases of the goals, and of failed cases of those. Returns
/// whether all goals are proven.
fn generalize(
    system: &System,
    prover: &mut Prover<'_>,
    goals: &mut Vec<Statement>,
    cx: &Context,
) -> bool {
    let mut tried: FxHashSet<Statement> = FxHashSet::default();
    prover.residues.clear();
    goals.retain(|goal| !prover.prove(goal, LIMITS.query_effort));
    for _ in 0..LIMITS.generalization_rounds {
        let residues = std::mem::take(&mut prover.residues);
        let before = prover.lemmas.len();
        for candidate in candidates(&system.terms, &residues) {
            if cx.stop().is_some() {
                return false;
            }
            if !tried.insert(candidate.clone()) || prover.is_known(&candidate) {
                continue;
            }
            log::debug!("induct: generalized {}", show(system, &candidate));
            if prover.prove(&candidate, LIMITS.lemma_effort) {
                log::debug!("induct: it is a lemma");
                goals.retain(|goal| !prover.prove(goal, LIMITS.query_effort));
            }
            if goals.is_empty() {
                return true;
            }
        }
        if prover.lemmas.len() > before {
            // With new lemmas, candidates that failed may be proven.
            tried.clear();
        }
    }
    prover.residues.clear();
    false
}

/// The statement for the log.
fn show(system: &System, statement: &Statement) -> String {
    alphorn_term::Printer::new(&system.terms).term(statement.formula(&system.terms))
}
