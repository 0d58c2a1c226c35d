//! What abstract interpretation says of predicates: candidates for invariants, from cheap domains to
//! precise ones.
//!
//! Invariant: nothing here is trusted. Each analysis has its own time; what one that ended in time
//! found is handed out whatever becomes of the later ones.

use std::time::{Duration, Instant};

use num_traits::One;
use rustc_hash::FxHashSet;

use crate::chc::{PredicateId, System};
use crate::domain::{
    Bits, Cases, Congruences, Constants, Cube, Domain, Intervals, Limits, Octagons, Packs,
    Polyhedra, Product, analyse_cubes, clause_cubes, guards, packs,
};
use crate::proof::houdini::Facts;
use crate::run::{Budget, Context};
use crate::term::{BigInt, Op, Rational, SortId, TermId, TermStore};

/// Time for making cubes of constraints, at most, and for the analyses of a run by domain.
const PREPARING: Duration = Duration::from_millis(60);
const BOUNDS: Duration = Duration::from_millis(100);
const COARSE: Duration = Duration::from_millis(150);
const CONGRUENCES: Duration = Duration::from_millis(100);
const OCTAGONS: Duration = Duration::from_millis(150);
const POLYHEDRA: Duration = Duration::from_millis(200);
const PHASES: Duration = Duration::from_millis(150);

/// So much later than its analysis a domain is late.
const SLACK: Duration = Duration::from_millis(5);

/// No more than this part of the time that is left for all.
const PART: u32 = 20;

/// So many times as long when there is no limit of time at all.
const UNLIMITED: u32 = 8;

/// Conjuncts of one predicate and analysis at most.
const CONJUNCTS: usize = 200;

/// Numerals of the system that widening stops at, at most.
const THRESHOLDS: usize = 200;

/// Variables in one element of relational domains, at most.
const WIDTH: usize = 30;

/// Variables of one pack for octagons and congruences at most.
const PACK: usize = 20;

/// Variables of one polyhedron at most, and of one that is joined exactly.
const DIMENSIONS: usize = 16;
const EXACT: usize = 8;

/// Cases of one predicate at most.
const CASES: usize = 12;

/// An analysis that is under way.
struct Analyses<'a> {
    system: &'a System,
    cubes: Vec<Vec<Cube>>,
    thresholds: Vec<Rational>,
    listed: FxHashSet<(PredicateId, TermId)>,
    found: Vec<Facts>,
    cx: &'a Context,
}

/// What each domain says that the ones before it do not, of those that ended in time.
pub(super) fn candidates(system: &System, cx: &Context) -> Vec<Facts> {
    let start = Instant::now();
    let limits = limits(PREPARING, cx);
    let mut analyses = Analyses {
        system,
        cubes: clause_cubes(system, limits, cx),
        thresholds: thresholds(system),
        listed: FxHashSet::default(),
        found: Vec::new(),
        cx,
    };
    log::debug!(
        "{} cubes of {} clauses: {:.3} s",
        analyses.cubes.iter().map(Vec::len).sum::<usize>(),
        system.clauses.len(),
        start.elapsed().as_secs_f64()
    );
    analyses.all();
    analyses.found
}

impl Analyses<'_> {
    fn all(&mut self) {
        let terms = &self.system.terms;
        let thresholds = self.thresholds.clone();
        let bounds = || Intervals::new(terms.clone(), thresholds.clone());
        let simple = self.by_cases(bounds());
        if !self.run("bounds", &simple, limits(BOUNDS, self.cx)) {
            // One cube for each clause, and widening at once: a pass or two over the clauses.
            let coarse = Limits {
                cubes: 1,
                delay: 1,
                narrowing: 1,
                ..limits(COARSE, self.cx)
            };
            self.cubes = clause_cubes(self.system, coarse, self.cx);
            let whole = Product::new(Bits::new(terms.clone(), powers(terms)), bounds());
            if !self.run("coarse bounds", &whole, coarse) {
                return;
            }
        }
        let wide = packs(self.system, PACK);
        // When an analysis is cut short anyway, its domains need not be precise.
        let whole = self.cx.budget.clone();
        let part = |limits: Limits| whole.work(limits.time + SLACK);
        let congruences = |part: Budget| {
            let domain = Congruences::new(terms.clone(), WIDTH);
            Packs::new(domain, terms.clone(), wide.clone(), 4 * PACK).within(part)
        };
        let time = limits(CONGRUENCES, self.cx);
        let domain = self.by_cases(Product::early(bounds(), congruences(part(time))));
        if !self.run("congruences", &domain, time) {
            return;
        }
        let time = limits(OCTAGONS, self.cx);
        let unit = scale(self.system);
        let octagons = Octagons::new(terms.clone(), 2 * PACK, unit, &thresholds);
        let octagons =
            Packs::new(octagons, terms.clone(), wide.clone(), 4 * PACK).within(part(time));
        let relational = Product::new(congruences(part(time)), octagons);
        let domain = self.by_cases(Product::early(bounds(), relational));
        let octagonal = self.run("octagons", &domain, time);
        let narrow = packs(self.system, DIMENSIONS);
        let polyhedra = |part: Budget| {
            let polyhedra = Polyhedra::new(terms.clone(), DIMENSIONS, EXACT).within(part.clone());
            let polyhedra = Packs::new(polyhedra, terms.clone(), narrow.clone(), 4 * DIMENSIONS);
            let relational = Product::new(congruences(part.clone()), polyhedra.within(part));
            Product::early(bounds(), relational)
        };
        let time = limits(POLYHEDRA, self.cx);
        let domain = self.by_cases(polyhedra(part(time)));
        self.run("polyhedra", &domain, time);
        let guards = guards(self.system, &self.cubes);
        if octagonal && !guards.is_empty() {
            let time = limits(PHASES, self.cx);
            let domain = self.by_cases(polyhedra(part(time))).split(guards);
            self.run("phases", &domain, time);
        }
    }

    /// A numeric domain, and bit-vectors, for each valuation of finite arguments.
    fn by_cases<D: Domain>(&self, numeric: D) -> Cases<Product<Product<Constants, Bits>, D>> {
        let terms = &self.system.terms;
        let constants = Constants::new(terms.clone());
        let bits = Bits::new(terms.clone(), powers(terms));
        let domain = Product::new(Product::new(constants, bits), numeric);
        Cases::new(domain, terms.clone(), CASES)
    }

    /// One analysis; false if it was cut short.
    fn run<D: Domain>(&mut self, name: &str, domain: &D, limits: Limits) -> bool {
        let start = Instant::now();
        let found = analyse_cubes(domain, self.system, &self.cubes, limits, self.cx);
        let seconds = start.elapsed().as_secs_f64();
        let end = if found.complete { "done" } else { "cut short" };
        log::debug!("analysis with {name}: {end}, {seconds:.3} s");
        if !found.complete {
            return false;
        }
        let mut facts = Facts::default();
        for predicate in self.system.used_predicates() {
            let mut conjuncts = domain.formula(&found.values[predicate.index()]);
            conjuncts.retain(|c| *c != TermId::TRUE && self.listed.insert((predicate, *c)));
            conjuncts.truncate(CONJUNCTS);
            if !conjuncts.is_empty() {
                facts.insert(predicate, conjuncts);
            }
        }
        self.found.push(facts);
        true
    }
}

fn limits(time: Duration, cx: &Context) -> Limits {
    Limits {
        time: within(time, cx),
        ..Limits::default()
    }
}

/// Bounds that bit-vectors are widened to: what fits into so many bits.
pub(super) fn powers(_: &TermStore) -> Vec<BigInt> {
    let power = |n: u32| BigInt::one() << n;
    let ends = [1, 2, 4, 7, 8, 15, 16, 31, 32, 63, 64];
    let sides = ends.into_iter().flat_map(|n| [power(n) - 1, -power(n)]);
    sides.chain([BigInt::from(0)]).collect()
}

/// One part in so many is the unit of octagons: whole numbers unless there are reals.
fn scale(system: &System) -> u32 {
    let real = |p: &PredicateId| {
        let params = &system.predicate(*p).params;
        let mut sorts = params.iter().map(|v| system.terms.sort_of(*v));
        sorts.any(|s| s == SortId::REAL)
    };
    if system.used_predicates().iter().any(real) {
        1 << 16
    } else {
        1
    }
}

/// The time, or less when there is little left; more for those who set no limit.
pub(super) fn within(time: Duration, cx: &Context) -> Duration {
    cx.remaining()
        .map_or(time * UNLIMITED, |left| time.min(left / PART))
}

/// Numerals of the clauses, with their neighbours.
fn thresholds(system: &System) -> Vec<Rational> {
    let terms = &system.terms;
    let constraints: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
    let mut numbers = Vec::new();
    terms.post_order(&constraints, |t| {
        if numbers.len() < THRESHOLDS
            && matches!(terms.op(t), Op::Int(_) | Op::Real(_))
            && let Some(value) = terms.numeral(t)
        {
            let one = Rational::one();
            numbers.extend([&value - &one, -&value, &value + &one, value]);
        }
    });
    numbers
}
