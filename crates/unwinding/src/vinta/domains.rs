//! The domains by name, and their turns when none is named.
//!
//! A domain with disjunctions proves most without refinement, but its graphs may grow too large:
//! then a less precise one has its turn (the paper's conclusion proposes that), and relational
//! ones. The first run waits meanwhile, and goes on from where it was.
//!
//! Invariant: a turn that ends without verdict says nothing.

use std::cell::Cell;
use std::time::Duration;

use super::pauses::Pauses;
use super::products::Products;
use super::{DomainName, Options, run};
use alphorn_chc::System;
use alphorn_domain::catalogue::{Catalogue, Parameters};
use alphorn_domain::{Guard, Product};
use alphorn_engine::EngineError;
use alphorn_engine::derived::with_received_lemmas;
use alphorn_engine::schedule::{Limit, Schedule, Slot, slot};
use alphorn_engine::settings::Choice as _;
use alphorn_proof::incomplete;
use alphorn_term::TermId;
use alphorn_term::run::Context;
use alphorn_term::run::Reason;
use alphorn_witness::Verdict;

/// Variables of a pack of polyhedra in the domain `packs`.
const PACK: usize = 6;

/// The turn of `boxes`, which begins when no domain is named. It goes on when the others had their
/// turns.
const FIRST: Slot<DomainName> = slot(DomainName::Boxes, 0.25, FIRST_LIMIT);

/// The same where there are products of use: there may be no other proof, and it pauses earlier.
const FIRST_OF_PRODUCTS: Slot<DomainName> = slot(DomainName::Boxes, 0.125, FIRST_LIMIT);

const FIRST_LIMIT: Limit = Limit::TimeIfUnlimited(Duration::from_secs(10));

/// The turns in its pause, with the visits of loops before they are widened.
const SCHEDULE: Schedule<(DomainName, usize)> = &[
    slot((DomainName::Products, 0), 0.375, LIMIT),
    slot((DomainName::Box, 0), 0.125, LIMIT),
    slot((DomainName::Polyhedra, 0), 0.125, LIMIT),
    slot((DomainName::Polyhedra, UNROLLED), 0.25, LIMIT),
];

const LIMIT: Limit = Limit::TimeIfUnlimited(Duration::from_secs(5));

/// Where a loop has a phase of so many rounds at most before what lasts, that is unrolled.
const UNROLLED: usize = 30;

/// Where less time is left, there are no turns: the first domain has all of it.
const SHORTEST: Duration = Duration::from_secs(2);

/// A run with the domain that the options name.
pub(super) fn solve(
    system: &System,
    options: &Options,
    cx: &mut Context,
) -> Result<Verdict, EngineError> {
    if options.domain != DomainName::Auto {
        return with_domain(system, options, Pauses::none(), cx);
    }
    let first = Options {
        domain: FIRST.turn,
        ..options.clone()
    };
    if cx.remaining().is_some_and(|left| left < SHORTEST) {
        return with_domain(system, &first, Pauses::none(), cx);
    }
    let slot = match Products::new(system) {
        Some(_) => FIRST_OF_PRODUCTS,
        None => FIRST,
    };
    let first_turn = slot.budget(&cx.budget);
    let paused = Cell::new(false);
    let end_in_pause = Cell::new(None);
    let pauses = Pauses::after(first_turn, |cx| {
        log::info!("vinta: a pause of boxes");
        paused.set(true);
        match others(system, options, false, cx) {
            Ok(Verdict::Unknown(_)) => Ok(()),
            end => {
                end_in_pause.set(Some(end));
                Err(incomplete("another domain ended the run"))
            }
        }
    });
    let verdict = with_domain(system, &first, pauses, cx);
    if let Some(end) = end_in_pause.take() {
        return end;
    }
    let verdict = verdict?;
    if !matches!(verdict, Verdict::Unknown(_)) || paused.get() || cx.stop().is_some() {
        return Ok(verdict);
    }
    log::info!("vinta: no verdict with boxes");
    others(system, options, true, cx)
}

/// The turns of the others. Those that are `alone` may use all the time there is.
fn others(
    system: &System,
    options: &Options,
    alone: bool,
    cx: &mut Context,
) -> Result<Verdict, EngineError> {
    let mut last = Verdict::Unknown(Reason::Incomplete("no domain".to_owned()));
    for (at, slot) in SCHEDULE.iter().enumerate() {
        let (domain, delay) = slot.turn;
        let options = Options {
            domain,
            widen_delay: options.widen_delay.max(delay),
            ..options.clone()
        };
        let part = match alone {
            true => LIMIT.part(&cx.budget, 1.0 / (SCHEDULE.len() - at) as f64),
            false => slot.budget(&cx.budget),
        };
        let run = |cx: &mut Context| with_domain(system, &options, Pauses::none(), cx);
        last = cx.within(part, run)?;
        if !matches!(last, Verdict::Unknown(_)) || cx.stop().is_some() {
            return Ok(last);
        }
        log::info!("vinta: no verdict with {}", domain.name());
    }
    Ok(last)
}

/// A run with the domain that the options name, on the clauses with what others know of them.
fn with_domain(
    system: &System,
    options: &Options,
    pauses: Pauses,
    cx: &mut Context,
) -> Result<Verdict, EngineError> {
    with_received_lemmas(system, cx, |system, cx| {
        strengthened(system, options, pauses, cx)
    })
}

fn strengthened(
    system: &System,
    options: &Options,
    pauses: Pauses,
    cx: &mut Context,
) -> Result<Verdict, EngineError> {
    let mut parameters = Parameters::ENGINE;
    if !options.thresholds {
        parameters.numerals = 0;
    }
    let domains = Catalogue::new(system, parameters, cx.budget.clone());
    let constants = || domains.constants();
    let polyhedra = || {
        let relational = Product::new(domains.congruences(), domains.polyhedra());
        domains.by_cases(constants(), domains.with_bounds(relational))
    };
    match options.domain {
        DomainName::Boxes | DomainName::Auto => {
            run(system, domains.boxes(), None, options, pauses, cx)
        }
        DomainName::Box => {
            let domain = domains.by_cases(constants(), domains.bounds());
            run(system, domain, None, options, pauses, cx)
        }
        DomainName::None => run(system, domains.none(), None, options, pauses, cx),
        DomainName::Constants => run(system, constants(), None, options, pauses, cx),
        DomainName::Intervals => {
            let domain = Product::new(constants(), domains.bounds());
            run(system, domain, None, options, pauses, cx)
        }
        DomainName::Bits => {
            let numeric = Product::new(domains.bits(), domains.bounds());
            let domain = domains.by_cases(constants(), numeric);
            run(system, domain, None, options, pauses, cx)
        }
        DomainName::Congruences => {
            let numeric = domains.with_bounds(domains.congruences());
            let domain = domains.by_cases(constants(), numeric);
            run(system, domain, None, options, pauses, cx)
        }
        DomainName::Octagons => {
            let numeric = domains.with_bounds(domains.octagons());
            let domain = domains.by_cases(constants(), numeric);
            run(system, domain, None, options, pauses, cx)
        }
        DomainName::Polyhedra => run(system, polyhedra(), None, options, pauses, cx),
        DomainName::Packs => {
            let numeric = domains.with_bounds(domains.packed_polyhedra(PACK));
            let domain = domains.by_cases(constants(), numeric);
            run(system, domain, None, options, pauses, cx)
        }
        DomainName::Products => {
            let Some(products) = Products::new(system) else {
                let why = "no products of use".to_owned();
                return Ok(Verdict::Unknown(Reason::Incomplete(why)));
            };
            let guards = products.conditions(system);
            let conditions: Vec<TermId> = guards.iter().map(Guard::formula).collect();
            let domain = polyhedra().split(guards);
            let own = &products.system;
            let verdict = run(own, domain, Some(&conditions), options, pauses, cx)?;
            Ok(products.verdict(system, verdict, cx))
        }
    }
}
