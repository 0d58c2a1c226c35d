//! The domains by name, and their turns when none is named.
//!
//! A domain with disjunctions proves most without refinement, but its graphs may grow too large: then
//! a less precise one has its turn (the paper's conclusion proposes that), and a relational one.
//!
//! Invariant: a turn that ends without verdict says nothing; each starts anew.

use std::rc::Rc;
use std::time::Duration;

use num_bigint::BigInt;
use num_traits::One;

use super::{DomainName, Options, run};
use crate::chc::System;
use crate::context::Context;
use crate::domain::{
    Bits, Boxes, Cases, Congruences, Constants, Domain, Intervals, Octagons, Packs, Polyhedra,
    Product, packs,
};
use crate::engine::EngineError;
use crate::term::{Op, Rational, SortId, TermId, TermStore};
use crate::witness::{Reason, Verdict};

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

/// The turns when no domain is named: each gets so many parts of eight of the time that is left, and
/// so much where there is no limit. The first has the rest, since it solves most.
const TURNS: [(DomainName, u32, Duration); 4] = [
    (DomainName::Boxes, 2, Duration::from_secs(10)),
    (DomainName::Box, 1, Duration::from_secs(5)),
    (DomainName::Polyhedra, 1, Duration::from_secs(5)),
    (DomainName::Boxes, 8, Duration::MAX),
];

/// Where less time is left, there are no turns: the last domain has all of it.
const SHORTEST: Duration = Duration::from_secs(2);

/// A run with the domain that the options name.
pub(super) fn solve(
    system: &System,
    options: &Options,
    cx: &mut Context,
) -> Result<Verdict, EngineError> {
    if options.domain != DomainName::Auto {
        return with_domain(system, options, cx);
    }
    let hurry = cx.remaining().is_some_and(|left| left < SHORTEST);
    let turns = if hurry {
        &TURNS[TURNS.len() - 1..]
    } else {
        &TURNS[..]
    };
    let mut last = Verdict::Unknown(Reason::Incomplete("no domain".to_owned()));
    for &(domain, parts, longest) in turns {
        let options = Options {
            domain,
            ..options.clone()
        };
        let limit = cx.remaining().map_or(longest, |left| left / 8 * parts);
        let turn = |cx: &mut Context| with_domain(system, &options, cx);
        last = if limit == Duration::MAX {
            turn(cx)?
        } else {
            cx.with_limit(limit, turn)?
        };
        if !matches!(last, Verdict::Unknown(_)) || cx.stop().is_some() {
            return Ok(last);
        }
        log::info!("vinta: no verdict with {}", name(domain));
    }
    Ok(last)
}

/// A domain's name.
fn name(mut domain: DomainName) -> &'static str {
    use crate::engine::settings::Choice;
    let choice: &mut dyn Choice = &mut domain;
    choice.names()[choice.chosen()]
}

fn with_domain(
    system: &System,
    options: &Options,
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
    match options.domain {
        DomainName::Boxes | DomainName::Auto => {
            let boxes = Boxes::new(terms.clone(), thresholds, options.diagram);
            run(system, &boxes, options, cx)
        }
        DomainName::Box => run(system, &by_cases(terms, bounds(), options), options, cx),
        DomainName::Constants => run(system, &constants(), options, cx),
        DomainName::Intervals => {
            let domain = Product::new(constants(), bounds());
            run(system, &domain, options, cx)
        }
        DomainName::Bits => {
            let bits = Bits::new(terms.clone(), powers());
            let numeric = Product::new(bits, bounds());
            run(system, &by_cases(terms, numeric, options), options, cx)
        }
        DomainName::Congruences => {
            let numeric = Product::early(bounds(), congruences());
            run(system, &by_cases(terms, numeric, options), options, cx)
        }
        DomainName::Octagons => {
            let neighbours = with_neighbours(&thresholds);
            let octagons = Octagons::new(terms.clone(), 2 * PACK, unit(system), &neighbours);
            let octagons = Packs::new(octagons, terms.clone(), packs(system, PACK), 4 * PACK);
            let numeric = Product::early(bounds(), octagons);
            run(system, &by_cases(terms, numeric, options), options, cx)
        }
        DomainName::Polyhedra => {
            let polyhedra = Polyhedra::new(terms.clone(), DIMENSIONS, EXACT);
            let relational = Product::new(congruences(), polyhedra);
            let numeric = Product::early(bounds(), relational);
            run(system, &by_cases(terms, numeric, options), options, cx)
        }
        DomainName::Packs => {
            let polyhedra = Polyhedra::new(terms.clone(), PACK_DIMENSIONS, EXACT);
            let own = packs(system, PACK_DIMENSIONS);
            let polyhedra = Packs::new(polyhedra, terms.clone(), own, 4 * PACK_DIMENSIONS);
            let numeric = Product::early(bounds(), polyhedra);
            run(system, &by_cases(terms, numeric, options), options, cx)
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
