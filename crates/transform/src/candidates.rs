//! What abstract interpretation says of predicates: candidates for invariants, from cheap domains
//! to precise ones.
//!
//! Invariant: nothing here is trusted. Each analysis has its own time; what one that ended in time
//! found is handed out whatever becomes of the later ones.

use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use alphorn_chc::{PredicateId, System};
use alphorn_domain::catalogue::{Catalogue, DIMENSIONS, Parameters};
use alphorn_domain::{
    Bits, Cases, Constants, Cube, Domain, Intervals, Limits, Product, analyse_cubes, clause_cubes,
    closed_part, guards,
};
use alphorn_proof::facts::Facts;
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// Time for making cubes of constraints, at most, and for the analyses of a run by domain.
const PREPARING: Duration = Duration::from_millis(60);
const BOUNDS: Duration = Duration::from_millis(100);
const CLOSED: Duration = Duration::from_millis(100);
const COARSE: Duration = Duration::from_millis(150);
const CONGRUENCES: Duration = Duration::from_millis(100);
const OCTAGONS: Duration = Duration::from_millis(150);
const WORDS: Duration = Duration::from_millis(150);
const POLYHEDRA: Duration = Duration::from_millis(200);
const PHASES: Duration = Duration::from_millis(150);

/// So much later than its analysis a domain is late.
const SLACK: Duration = Duration::from_millis(5);

/// No more than this part of what the run may take.
const PART: u32 = 20;

/// So many times as long when there is no limit of time at all.
const UNLIMITED: u32 = 8;

/// Conjuncts of one predicate and analysis at most.
const CONJUNCTS: usize = 200;

/// A relational domain with all that goes with it.
type Stack<D> = Cases<Product<Product<Constants, Bits>, Product<Intervals, D>>>;

/// The analyses of a run.
struct Analyses<'a> {
    system: &'a System,
    cubes: Vec<Vec<Cube>>,
    domains: Catalogue<'a>,
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
        domains: Catalogue::new(system, Parameters::PASS, cx.budget.clone()),
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
    /// From cheap to precise; the later ones are not tried where the earlier ones took too long.
    fn all(&mut self) {
        let bounds = self.domains.bounds();
        let simple = self.domains.by_cases(self.finite(), bounds);
        if !self.run("bounds", &simple, limits(BOUNDS, self.cx)) {
            // One cube for each clause, and widening at once: a pass or two over the clauses.
            let coarse = Limits {
                cubes: 1,
                delay: 1,
                narrowing: 1,
                ..limits(COARSE, self.cx)
            };
            self.cubes = clause_cubes(self.system, coarse, self.cx);
            let whole = Product::new(self.domains.bits(), self.domains.bounds());
            if !self.run("coarse bounds", &whole, coarse) {
                return;
            }
        }
        if self.system.has_wide_words() {
            self.words();
        }
        if !self.domains.has_numbers() {
            return;
        }
        self.closed_part();
        let time = self.limits(CONGRUENCES);
        let congruences = self.domains.packed_congruences();
        if !self.run("congruences", &self.by_cases(congruences), time) {
            return;
        }
        let time = self.limits(OCTAGONS);
        let congruences = self.domains.packed_congruences();
        let octagons = Product::new(congruences, self.domains.octagons());
        let octagonal = self.run("octagons", &self.by_cases(octagons), time);
        let time = self.limits(POLYHEDRA);
        let polyhedra = self.polyhedra();
        self.run("polyhedra", &self.by_cases(polyhedra), time);
        let guards = guards(self.system, &self.cubes);
        if octagonal && !guards.is_empty() {
            let time = self.limits(PHASES);
            let phases = self.by_cases(self.polyhedra()).split(guards);
            self.run("phases", &phases, time);
        }
    }

    /// Polyhedra of the arguments that change by themselves. Among all they come late or not at all.
    fn closed_part(&mut self) {
        let limits = limits(CLOSED, self.cx);
        let budget = self.cx.budget.work(limits.time);
        let Some(part) = closed_part(self.system, &budget) else {
            return;
        };
        let mut domains = Catalogue::new(&part, Parameters::PASS, self.cx.budget.clone());
        domains.set_budget(self.cx.budget.work(limits.time + SLACK));
        let cubes = clause_cubes(&part, limits, self.cx);
        let domain = domains.with_bounds(domains.packed_polyhedra(DIMENSIONS));
        self.run_on(&part, &cubes, "polyhedra of closed parts", &domain, limits);
    }

    /// Equations of words. Those that phases have of their own are for the pass `equations`.
    fn words(&mut self) {
        let time = self.limits(WORDS);
        let modular = self.domains.modular();
        let by_cases = self.domains.by_cases(self.finite(), modular);
        self.run("equations of words", &by_cases, time);
    }

    /// Limits for an analysis. When it is cut short anyway, its domains need not be precise.
    fn limits(&mut self, time: Duration) -> Limits {
        let limits = limits(time, self.cx);
        let budget = self.cx.budget.work(limits.time + SLACK);
        self.domains.set_budget(budget);
        limits
    }

    fn finite(&self) -> Product<Constants, Bits> {
        Product::new(self.domains.constants(), self.domains.bits())
    }

    fn polyhedra(&self) -> impl Domain + use<> {
        let polyhedra = self.domains.packed_polyhedra(DIMENSIONS);
        Product::new(self.domains.packed_congruences(), polyhedra)
    }

    /// A relational domain with bounds, and bit-vectors, for each valuation of finite arguments.
    fn by_cases<D: Domain>(&self, relational: D) -> Stack<D> {
        let numeric = self.domains.with_bounds(relational);
        self.domains.by_cases(self.finite(), numeric)
    }

    /// One analysis; false if it was cut short.
    fn run<D: Domain>(&mut self, name: &str, domain: &D, limits: Limits) -> bool {
        let cubes = std::mem::take(&mut self.cubes);
        let complete = self.run_on(self.system, &cubes, name, domain, limits);
        self.cubes = cubes;
        complete
    }

    /// The same of a system, with the cubes of its clauses, whose formal variables are the same.
    fn run_on<D: Domain>(
        &mut self,
        system: &System,
        cubes: &[Vec<Cube>],
        name: &str,
        domain: &D,
        limits: Limits,
    ) -> bool {
        let start = Instant::now();
        let found = analyse_cubes(domain, system, cubes, limits, self.cx);
        let seconds = start.elapsed().as_secs_f64();
        let end = if found.complete { "done" } else { "cut short" };
        log::debug!("analysis with {name}: {end}, {seconds:.3} s");
        if !found.complete {
            return false;
        }
        let mut facts = Facts::default();
        for predicate in system.used_predicates() {
            let mut conjuncts = domain.formula(&found.values[predicate.index()]);
            conjuncts.retain(|c| *c != TermId::TRUE && self.listed.insert((predicate, *c)));
            conjuncts.truncate(CONJUNCTS);
            for conjunct in &conjuncts {
                log::trace!(
                    "{}: {}",
                    system.predicate(predicate).name,
                    alphorn_term::Printer::new(&system.terms).term(*conjunct)
                );
            }
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

/// The time, or less in a short run; more for those who set no limit. What is left has no say: it
/// hangs on how busy the machine is.
pub(super) fn within(time: Duration, cx: &Context) -> Duration {
    within_part(time, PART, cx)
}

/// The same with another part of short runs.
pub(super) fn within_part(time: Duration, part: u32, cx: &Context) -> Duration {
    cx.budget
        .length()
        .map_or(time * UNLIMITED, |whole| time.min(whole / part))
}
