//! A better model in the place of the one that was found, where it is to be printed: one without
//! recursive functions, and a smaller one.
//!
//! Invariant: what comes back is the answer that was given, or a model that has passed its own
//! check.

use std::time::Instant;

use super::order::{SMALLER, UNFOLDED};
use super::turn::part;
use alphorn_chc::System;
use alphorn_chc::frontend::Problem;
use alphorn_proof::shrink::{shrink, size};
use alphorn_proof::unfolded::unfolded_model;
use alphorn_smt::Smt;
use alphorn_term::run::{Context, Phase};
use alphorn_witness::{Model, Validated, Verdict, validate_other};

/// What is left of a model, in percent, is worth another check if it is no more than this.
const WORTHWHILE: usize = 95;

/// A model without recursive functions in the place of one with them, if the first constructors of
/// terms are enough for it.
pub(super) fn plain_model(
    problem: &Problem,
    system: &System,
    answer: &Validated,
    cx: &mut Context,
) -> Option<Validated> {
    let Verdict::Sat(model) = answer.verdict() else {
        return None;
    };
    let start = Instant::now();
    let part = part(&cx.budget, UNFOLDED.0, UNFOLDED.1);
    let found = cx.within(part, |cx| {
        let found = cx.phase(Phase::Check, "plain model", |cx| {
            let smt = Smt::within(&cx.budget);
            unfolded_model(system, &model.definitions, &smt, &cx.budget)
        })?;
        let plain = Model {
            definitions: found,
            lemmas: Vec::new(),
        };
        cx.phase(Phase::Check, "check", |cx| {
            validate_other(problem, plain, cx)
        })
    });
    let seconds = start.elapsed().as_secs_f64();
    let is = if found.is_some() { "a" } else { "no" };
    log::debug!("{is} model by bounded unfolding, {seconds:.3} s");
    found
}

/// The answer with a smaller model, if it is a model and one is found in a moment. `system` is the
/// problem in normal form, whose models are those of the problem.
pub(super) fn with_smaller_model(
    problem: &Problem,
    system: &System,
    answer: Validated,
    cx: &mut Context,
) -> Validated {
    let Verdict::Sat(model) = answer.verdict() else {
        return answer;
    };
    // Lemmas about functions are about the calls that are there.
    if answer.functions(&problem.terms) != (false, false) {
        return answer;
    }
    let start = Instant::now();
    let part = part(&cx.budget, SMALLER.0, SMALLER.1);
    let definitions = &model.definitions;
    let before = size(&problem.terms, definitions);
    let found = cx.within(part, |cx| {
        // The check of what is found needs its half.
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
        if after * 100 > before * WORTHWHILE {
            return None;
        }
        cx.phase(Phase::Check, "check", |cx| {
            validate_other(problem, smaller, cx)
        })
    });
    cx.stats.add_time("smaller.seconds", start.elapsed());
    found.unwrap_or(answer)
}
