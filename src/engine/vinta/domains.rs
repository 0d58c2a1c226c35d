//! The domains by name, and their turns when none is named.
//!
//! A domain with disjunctions proves most without refinement, but its graphs may grow too large: then
//! a less precise one has its turn (the paper's conclusion proposes that), and relational ones. The
//! first run waits meanwhile, and goes on from where it was.
//!
//! Invariant: a turn that ends without verdict says nothing.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use num_bigint::BigInt;
use num_traits::One;

use super::pauses::Pauses;
use super::products::Products;
use super::{DomainName, Options, Weaker, run, run_split};
use crate::chc::System;
use crate::domain::{
    Bits, Boxes, Cases, Congruences, Constants, Domain, Guard, Intervals, Octagons, Packs,
    Polyhedra, Product, packs,
};
use crate::engine::EngineError;
use crate::engine::settings::Choice as _;
use crate::run::Context;
use crate::run::Reason;
use crate::term::{Op, Rational, SortId, TermId, TermStore};
use crate::witness::Verdict;

/// Variables in one element of relational domains, dimensions of one polyhedron, and of one that is
/// joined exactly, at most.
const WIDTH: usize = 60;
const DIMENSIONS: usize = 16;
const EXACT: usize = 8;

/// Variables of predicates that have one octagon together, at most; of clauses, twice as many. In
/// packs of polyhedra, the dimensions.
const PACK: usize = 16;
const PACK_DIMENSIONS: usize = 6;

/// One part in so many is the unit of octagons over reals.
const UNIT: u32 = 1 << 16;

/// Numerals of the system that widening stops at, at most.
const THRESHOLDS: usize = 400;

/// When no domain is named, `boxes` begins, with so many parts of eight of the time, and so much where
/// there is no limit. It goes on when the others had their turns. Where there are products of use, there
/// may be no other proof, and it pauses earlier.
const FIRST: (u32, Duration) = (2, Duration::from_secs(10));
const FIRST_OF_PRODUCTS: u32 = 1;

/// The turns in its pause: parts of eight of the time that is left, and the visits of loops before they
/// are widened.
const TURNS: [(DomainName, u32, usize); 4] = [
    (DomainName::Products, 3, 0),
    (DomainName::Box, 1, 0),
    (DomainName::Polyhedra, 1, 0),
    (DomainName::Polyhedra, 2, UNROLLED),
];

/// What these turns have where there is no limit.
const TURN: Duration = Duration::from_secs(5);

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
        domain: DomainName::Boxes,
        ..options.clone()
    };
    let left = cx.remaining();
    if left.is_some_and(|left| left < SHORTEST) {
        return with_domain(system, &first, Pauses::none(), cx);
    }
    let (mut parts, longest) = FIRST;
    if Products::new(system).is_some() {
        parts = FIRST_OF_PRODUCTS;
    }
    let first_turn = cx
        .budget
        .time(left.map_or(longest, |left| left / 8 * parts));
    let paused = Cell::new(false);
    let pauses = Pauses::after(first_turn, |cx| {
        log::info!("vinta: a pause of boxes");
        paused.set(true);
        others(system, options, false, cx)
    });
    let verdict = with_domain(system, &first, pauses, cx)?;
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
    for (turn, &(domain, parts, delay)) in TURNS.iter().enumerate() {
        let options = Options {
            domain,
            widen_delay: options.widen_delay.max(delay),
            ..options.clone()
        };
        let after = u32::try_from(TURNS.len() - turn).unwrap_or(u32::MAX);
        let share = |left: Duration| {
            if alone {
                left / after
            } else {
                left / 8 * parts
            }
        };
        let limit = cx.remaining().map_or(TURN, share);
        let run = |cx: &mut Context| with_domain(system, &options, Pauses::none(), cx);
        last = cx.within(cx.budget.time(limit), run)?;
        if !matches!(last, Verdict::Unknown(_)) || cx.stop().is_some() {
            return Ok(last);
        }
        log::info!("vinta: no verdict with {}", domain.name());
    }
    Ok(last)
}

fn with_domain(
    system: &System,
    options: &Options,
    pauses: Pauses,
    cx: &mut Context,
) -> Result<Verdict, EngineError> {
    let terms = &system.terms;
    let thresholds = match options.thresholds {
        true => numerals(system),
        false => Vec::new(),
    };
    let bounds = || Intervals::new(terms.clone(), with_neighbours(&thresholds));
    let congruences = || Congruences::new(terms.clone(), WIDTH);
    let constants = || Constants::new(terms.clone());
    let budget = cx.budget.clone();
    let polyhedra = || {
        let polyhedra = Polyhedra::new(terms.clone(), DIMENSIONS, EXACT).within(budget.clone());
        Product::early(bounds(), Product::new(congruences(), polyhedra))
    };
    match options.domain {
        DomainName::Boxes | DomainName::Auto => {
            let boxes = Boxes::new(terms.clone(), thresholds, options.diagram);
            run(system, &boxes, options, pauses, cx)
        }
        DomainName::Box => run(
            system,
            &by_cases(terms, bounds(), options),
            options,
            pauses,
            cx,
        ),
        DomainName::Constants => run(system, &constants(), options, pauses, cx),
        DomainName::Intervals => {
            let domain = Product::new(constants(), bounds());
            run(system, &domain, options, pauses, cx)
        }
        DomainName::Bits => {
            let bits = Bits::new(terms.clone(), powers());
            let numeric = Product::new(bits, bounds());
            run(
                system,
                &by_cases(terms, numeric, options),
                options,
                pauses,
                cx,
            )
        }
        DomainName::Congruences => {
            let numeric = Product::early(bounds(), congruences());
            run(
                system,
                &by_cases(terms, numeric, options),
                options,
                pauses,
                cx,
            )
        }
        DomainName::Octagons => {
            let neighbours = with_neighbours(&thresholds);
            let octagons = Octagons::new(terms.clone(), 2 * PACK, unit(system), &neighbours);
            let octagons = Packs::new(octagons, terms.clone(), packs(system, PACK), 4 * PACK);
            let numeric = Product::early(bounds(), octagons);
            run(
                system,
                &by_cases(terms, numeric, options),
                options,
                pauses,
                cx,
            )
        }
        DomainName::Polyhedra => {
            let polyhedra = Polyhedra::new(terms.clone(), DIMENSIONS, EXACT);
            let relational = Product::new(congruences(), polyhedra);
            let numeric = Product::early(bounds(), relational);
            run(
                system,
                &by_cases(terms, numeric, options),
                options,
                pauses,
                cx,
            )
        }
        DomainName::Products => {
            let Some(products) = Products::new(system) else {
                let why = "no products of use".to_owned();
                return Ok(Verdict::Unknown(Reason::Incomplete(why)));
            };
            let options = Options {
                weaker: Weaker::Conjuncts,
                ..options.clone()
            };
            let guards = products.conditions(system);
            let conditions: Vec<TermId> = guards.iter().map(Guard::formula).collect();
            let domain = by_cases(terms, polyhedra(), &options).split(guards);
            let system_of_products = &products.system;
            let verdict = run_split(
                system_of_products,
                &domain,
                &conditions,
                &options,
                pauses,
                cx,
            )?;
            Ok(products.verdict(system, verdict, cx))
        }
        DomainName::Packs => {
            let polyhedra = Polyhedra::new(terms.clone(), PACK_DIMENSIONS, EXACT);
            let own = packs(system, PACK_DIMENSIONS);
            let polyhedra = Packs::new(polyhedra, terms.clone(), own, 4 * PACK_DIMENSIONS);
            let numeric = Product::early(bounds(), polyhedra);
            run(
                system,
                &by_cases(terms, numeric, options),
                options,
                pauses,
                cx,
            )
        }
    }
}

/// A numeric domain for each valuation of finite arguments.
fn by_cases<D: Domain>(
    terms: &Rc<TermStore>,
    numeric: D,
    options: &Options,
) -> Cases<Product<Constants, D>> {
    let constants = Constants::new(terms.clone());
    let domain = Product::new(constants, numeric);
    Cases::new(domain, terms.clone(), options.cases)
}

/// Bounds that bit-vectors are widened to: what fits into so many bits.
fn powers() -> Vec<BigInt> {
    let power = |n: u32| BigInt::one() << n;
    let sides = [1, 8, 16, 32, 64].into_iter();
    let sides = sides.flat_map(|n| [power(n) - 1, -power(n)]);
    sides.chain([BigInt::from(0)]).collect()
}

/// The unit of octagons: whole numbers unless predicates have reals.
fn unit(system: &System) -> u32 {
    let mut params = system
        .used_predicates()
        .into_iter()
        .flat_map(|p| &system.predicate(p).params);
    match params.any(|&v| system.terms.sort_of(v) == SortId::REAL) {
        true => UNIT,
        false => 1,
    }
}

/// Numerals of the clauses.
fn numerals(system: &System) -> Vec<Rational> {
    let terms = &system.terms;
    let constraints: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
    let mut numbers = Vec::new();
    terms.post_order(&constraints, |t| {
        if numbers.len() < THRESHOLDS
            && matches!(terms.op(t), Op::Int(_) | Op::Real(_))
            && let Some(value) = terms.numeral(t)
        {
            numbers.push(value);
        }
    });
    numbers
}

/// Where the bounds of a strict comparison or of a value that is left out would be.
fn with_neighbours(numbers: &[Rational]) -> Vec<Rational> {
    let one = Rational::one();
    let around = |n: &Rational| [n - &one, n.clone(), n + &one, -n];
    numbers.iter().flat_map(around).collect()
}
