//! A better model in place of the one that was found, where a model is to be printed: one without
//! recursive functions, and a smaller one; and a model beside a proof by induction on derivations.
//!
//! Invariant: the result is the given answer, or has a model that has passed a check of its own.

use std::time::Instant;

use super::schedule::PARTS;
use super::solve::calls_functions;
use alphorn_chc::System;
use alphorn_chc::frontend::Problem;
use alphorn_induction::relate::function_model;
use alphorn_proof::shrink::{shrink, size};
use alphorn_proof::unfolded;
use alphorn_smt::Smt;
use alphorn_term::run::{Context, Phase};
use alphorn_witness::{Model, Validated, Verdict, validate_replacement, with_function_model};

/// A smaller model is checked only if its size is at most this percentage of the other's.
const MAX_PERCENT: usize = 95;

/// A model without recursive functions from one with them, by bounded unfolding of the functions, if
/// the outermost constructors of terms are enough for it.
pub(super) fn unfolded_model(
    problem: &Problem,
    system: &System,
    answer: &Validated,
    cx: &mut Context,
) -> Option<Validated> {
    let Verdict::Sat(model) = answer.verdict() else {
        return None;
    };
    if !problem.functions.is_empty() {
        return None;
    }
    let start = Instant::now();
    let part = PARTS.unfolding.budget(&cx.budget);
    let found = cx.within(part, |cx| {
        let found = cx.phase(Phase::Check, "plain model", |cx| {
            let smt = Smt::within(&cx.budget);
            unfolded::unfolded_model(system, &model.definitions, &smt, &cx.budget)
        })?;
        let plain = Model {
            definitions: found,
            lemmas: Vec::new(),
        };
        cx.phase(Phase::Check, "check", |cx| {
            validate_replacement(problem, plain, cx)
        })
    });
    let seconds = start.elapsed().as_secs_f64();
    let article = if found.is_some() { "a" } else { "no" };
    log::debug!("{article} model by bounded unfolding, {seconds:.3} s");
    found
}

/// The answer with a model by recursive functions if it is a proof by induction on derivations, and
/// the predicates are total functions. `system` is the problem in normal form.
pub(super) fn with_functions(
    problem: &Problem,
    system: &System,
    answer: Validated,
    cx: &mut Context,
) -> Validated {
    if !matches!(answer.verdict(), Verdict::Proven(_)) {
        return answer;
    }
    let start = Instant::now();
    let part = PARTS.functions.budget(&cx.budget);
    let answer = cx.within(part, |cx| {
        let found = cx.phase(Phase::Check, "model by functions", |cx| {
            function_model(problem, system, cx)
        });
        match found {
            Some(model) => cx.phase(Phase::Check, "check", |cx| {
                with_function_model(problem, answer, &model, cx)
            }),
            None => answer,
        }
    });
    let article = if answer.has_functions() { "a" } else { "no" };
    let seconds = start.elapsed().as_secs_f64();
    log::debug!("{article} model by functions, {seconds:.3} s");
    answer
}

/// The answer with a smaller model if it is a model and one is found soon. `system` is the problem in
/// normal form, which has the same models.
pub(super) fn smaller_model(
    problem: &Problem,
    system: &System,
    answer: Validated,
    cx: &mut Context,
) -> Validated {
    let Verdict::Sat(model) = answer.verdict() else {
        return answer;
    };
    // The model's lemmas are about the function calls that it has, or about the text's functions.
    if calls_functions(&answer, problem) || !problem.functions.is_empty() {
        return answer;
    }
    let start = Instant::now();
    let part = PARTS.smaller_model.budget(&cx.budget);
    let definitions = &model.definitions;
    let before = size(&problem.terms, definitions);
    let found = cx.within(part, |cx| {
        // The other half is for the check.
        let half = cx.budget.left().map(|left| left / 2);
        let budget = half.map_or_else(|| cx.budget.clone(), |half| cx.budget.about(half));
        let found = cx.phase(Phase::Check, "smaller model", |_| {
            shrink(system, definitions, &Smt::within(&budget), &budget)
        })?;
        let after = size(&problem.terms, &found);
        let smaller = Model {
            definitions: found,
            lemmas: Vec::new(),
        };
        let seconds = start.elapsed().as_secs_f64();
        log::debug!("a model of size {before} becomes one of size {after}, {seconds:.3} s");
        if after * 100 > before * MAX_PERCENT {
            return None;
        }
        cx.phase(Phase::Check, "check", |cx| {
            validate_replacement(problem, smaller, cx)
        })
    });
    cx.stats.add_time("smaller.seconds", start.elapsed());
    found.unwrap_or(answer)
}
