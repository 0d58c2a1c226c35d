//! Induction: predicates that are graphs of recursive functions are defined by these, and what the
//! queries then say is proven as theorems about functions.
//!
//! A clause set about datatypes is mostly a functional program written as relations, with a theorem
//! as its query. Where `p(x, y)` is `y = f(x)` for a function `f` that the clauses of `p` define
//! (`proof/functions`), the graph of `f` is a model of these clauses, and the best one: a query
//! holds if a theorem about functions does. Such theorems need induction, which no solver does
//! inside a query; so the model comes with lemmas and their proofs, a certificate that the check of
//! the model follows step by step (`witness/certificate.rs`).
//!
//! - **Statements** (`statement`): a query with its atoms replaced by what they mean, outputs
//!   substituted by calls.
//! - **Proofs** (`prove`): calls whose measured arguments show their constructors are unfolded
//!   (`normal`), lemmas and the induction hypothesis are instantiated where they match, and a
//!   solver for uninterpreted functions, datatypes and arithmetic decides. Induction is on the
//!   variables that most calls wait for; within a case, further variables are split.
//! - **Lemmas**: if that is not enough, equations between small terms that hold on random values
//!   are proven, small ones first (`explore`), and then what failed cases of the queries were left
//!   with, made more general (`generalize`).
//!
//! After recursion induction and the waterfall of Boyer and Moore ("A Computational Logic", 1979),
//! and theory exploration as in HipSpec. Deviations: no rewriting by lemmas, since the solver's
//! congruence closure takes ground instances; hypotheses are instantiated by matching, which
//! also finds what accumulators have to be.
//!
//! Invariant: `Sat` comes with definitions under which all clauses hold and with a proof of each
//! query; nothing is said about unsatisfiable systems.

mod explore;
mod generalize;
mod normal;
mod prove;
mod statement;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use rustc_hash::FxHashSet;

use self::explore::{Exploration, falsified, weight};
use self::generalize::{candidates, without_numerals};
use self::prove::{Effort, Prover};
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

/// Values on which a query is tried before its proof.
const TRIES: usize = 100;
/// Sizes of terms up to which lemmas are looked for, and the size after which failed cases are.
const SIZES: usize = 8;
const SMALL: usize = 5;
/// Rounds of lemmas from failed cases, each from those of the round before.
const GENERALIZATIONS: usize = 3;
/// Queries are tried again after so many lemmas.
const RETRY: usize = 4;
/// How hard queries are tried, and lemmas.
const GOAL: Effort = Effort {
    splits: 2,
    queries: 200,
};
/// Before there are lemmas.
const FIRST: Effort = Effort {
    splits: 2,
    queries: 60,
};
const LEMMA: Effort = Effort {
    splits: 1,
    queries: 24,
};

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Induct;

impl Engine for Induct {
    fn name(&self) -> &'static str {
        "induct"
    }

    /// Theorems about datatypes are what it is for.
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

fn decide(system: &System, smt: &Rc<Smt>, cx: &mut Context) -> Result<Verdict, Stop> {
    let mut definitions = define(system, true, smt, cx);
    let mut goals = goals(system, &definitions);
    // What a relation was completed by may be what a query excludes.
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
        log::debug!("{} lemmas", prover.lemmas.len());
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

/// Whether a statement is found to be wrong.
fn fails(system: &System, goals: &[Statement]) -> bool {
    let wrong = goals.iter().find(|g| falsified(&system.terms, g, TRIES));
    if let Some(wrong) = wrong {
        log::debug!("a query fails: {}", show(system, wrong));
    }
    wrong.is_some()
}

/// What the queries say, and the clauses of predicates that are to be false.
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

/// That values of functions are not negative, where that was found of their relations.
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

/// Proves the statements, with lemmas where they are needed: first the ranges of functions.
fn prove_all(
    system: &System,
    prover: &mut Prover<'_>,
    ranges: Vec<Statement>,
    mut goals: Vec<Statement>,
    cx: &Context,
) -> bool {
    for range in ranges {
        prover.prove(&range, LEMMA);
    }
    goals.retain(|goal| {
        log::debug!("goal {}", show(system, goal));
        !prover.prove(goal, FIRST)
    });
    goals.retain(|goal| {
        let general = without_numerals(&system.terms, goal);
        let proven = general.iter().any(|g| prover.prove(g, FIRST));
        !(proven && prover.prove(goal, GOAL))
    });
    if goals.is_empty() {
        return true;
    }
    let Some(mut exploration) = Exploration::new(&system.terms, &goals) else {
        return false;
    };
    let mut tried: FxHashSet<Statement> = FxHashSet::default();
    // What was not proven may be when more is known.
    let mut failed: Vec<Statement> = Vec::new();
    for size in 1..=SIZES {
        let mut candidates = exploration.next(cx);
        candidates.retain(|c| tried.insert(c.clone()));
        candidates.extend(std::mem::take(&mut failed));
        log::debug!("{} equations of size {size}", candidates.len());
        let mut before = prover.lemmas.len();
        for candidate in candidates {
            if cx.stop().is_some() {
                return false;
            }
            if prover.is_known(&candidate) {
                continue;
            }
            if prover.prove(&candidate, LEMMA) {
                log::debug!("lemma {}", show(system, &candidate));
            } else {
                failed.push(candidate);
            }
            if prover.lemmas.len() >= before + RETRY {
                before = prover.lemmas.len();
                goals.retain(|goal| !prover.prove(goal, GOAL));
                if goals.is_empty() {
                    return true;
                }
            }
        }
        if prover.lemmas.len() > before {
            goals.retain(|goal| !prover.prove(goal, GOAL));
        }
        if goals.is_empty() || (size == SMALL && generalize(system, prover, &mut goals, cx)) {
            return true;
        }
    }
    false
}

/// Tries lemmas that failed cases ask for, and those that their own failed cases ask for. Whether
/// all goals are proven then.
fn generalize(
    system: &System,
    prover: &mut Prover<'_>,
    goals: &mut Vec<Statement>,
    cx: &Context,
) -> bool {
    let mut tried: FxHashSet<Statement> = FxHashSet::default();
    prover.residues.clear();
    goals.retain(|goal| !prover.prove(goal, GOAL));
    for _ in 0..GENERALIZATIONS {
        let residues = std::mem::take(&mut prover.residues);
        let before = prover.lemmas.len();
        for candidate in candidates(&system.terms, &residues) {
            if cx.stop().is_some() {
                return false;
            }
            if !tried.insert(candidate.clone()) || prover.is_known(&candidate) {
                continue;
            }
            log::debug!("generalized {}", show(system, &candidate));
            if prover.prove(&candidate, LEMMA) {
                log::debug!("it is a lemma");
                goals.retain(|goal| !prover.prove(goal, GOAL));
            }
            if goals.is_empty() {
                return true;
            }
        }
        if prover.lemmas.len() > before {
            // What failed before may hold now.
            tried.clear();
        }
    }
    prover.residues.clear();
    false
}

fn show(system: &System, statement: &Statement) -> String {
    alphorn_term::Printer::new(&system.terms).term(statement.formula(&system.terms))
}
