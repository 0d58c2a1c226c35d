//! Candidates for invariants from abstract interpretation, from cheap domains to precise ones.
//!
//! Invariant: nothing here is trusted. Each analysis has its own limit, and the result of one that
//! ended within it is kept, whatever happens to later ones.

use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use alphorn_chc::{PredicateId, System};
use alphorn_domain::catalogue::{Catalogue, DIMENSIONS, Parameters};
use alphorn_domain::{
    Bits, Cases, Constants, Cube, Domain, Intervals, Limits as AnalysisLimits, Product,
    analyse_cubes, clause_cubes, closed_part, guards,
};
use alphorn_proof::facts::Facts;
use alphorn_term::TermId;
use alphorn_term::run::Context;

/// The limits of the analyses, as work. In short runs an analysis gets less, see [`within`].
struct Limits {
    /// Making cubes of the clauses' constraints.
    cubes_work: Duration,
    /// The analysis with bounds. At its end the analysis with coarse bounds runs.
    bounds_work: Duration,
    /// The analysis of closed parts with polyhedra.
    closed_part_work: Duration,
    /// The analysis with coarse bounds. At its end there are no candidates.
    coarse_bounds_work: Duration,
    /// The analysis with congruences. At its end more precise domains are left out.
    congruences_work: Duration,
    /// The analysis with octagons.
    octagons_work: Duration,
    /// The analysis with linear equations between bit-vectors.
    bit_vector_equations_work: Duration,
    /// The analysis with polyhedra.
    polyhedra_work: Duration,
    /// The analysis with polyhedra by phases.
    phases_work: Duration,
    /// The work of a domain beyond that of its analysis, after which it loses precision.
    slack_work: Duration,
    /// An analysis gets at most the run's limit divided by this.
    part_of_run: u32,
    /// An analysis gets this many times its work if the run has no limit.
    factor_if_unlimited: u32,
    /// Conjuncts of one predicate from one analysis; further ones are dropped.
    max_conjuncts: usize,
}

const LIMITS: Limits = Limits {
    cubes_work: Duration::from_millis(60),
    bounds_work: Duration::from_millis(100),
    closed_part_work: Duration::from_millis(100),
    coarse_bounds_work: Duration::from_millis(150),
    congruences_work: Duration::from_millis(100),
    octagons_work: Duration::from_millis(150),
    bit_vector_equations_work: Duration::from_millis(150),
    polyhedra_work: Duration::from_millis(200),
    phases_work: Duration::from_millis(150),
    slack_work: Duration::from_millis(5),
    part_of_run: 20,
    factor_if_unlimited: 8,
    max_conjuncts: 200,
};

/// A relational domain combined with bounds, constants and bits, by cases of finite arguments.
type Stack<D> = Cases<Product<Product<Constants, Bits>, Product<Intervals, D>>>;

/// The analyses of one run of the pass.
struct Analyses<'a> {
    system: &'a System,
    cubes: Vec<Vec<Cube>>,
    domains: Catalogue<'a>,
    listed: FxHashSet<(PredicateId, TermId)>,
    found: Vec<Facts>,
    cx: &'a Context,
}

/// For each analysis that ended within its limit, the conjuncts that the analyses before it did not
/// find.
pub(super) fn candidates(system: &System, cx: &Context) -> Vec<Facts> {
    let start = Instant::now();
    let limits = limits(LIMITS.cubes_work, cx);
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
    /// Runs the analyses from cheap to precise; later ones are left out if earlier ones reached
    /// their limits.
    fn all(&mut self) {
        let bounds = self.domains.bounds();
        let simple = self.domains.by_cases(self.finite(), bounds);
        if !self.run("bounds", &simple, limits(LIMITS.bounds_work, self.cx)) {
            // One cube for each clause, and widening at once, so that a pass or two over the
            // clauses suffice.
            let coarse = AnalysisLimits {
                cubes: 1,
                delay: 1,
                narrowing: 1,
                ..limits(LIMITS.coarse_bounds_work, self.cx)
            };
            self.cubes = clause_cubes(self.system, coarse, self.cx);
            let whole = Product::new(self.domains.bits(), self.domains.bounds());
            if !self.run("coarse bounds", &whole, coarse) {
                return;
            }
        }
        if self.system.has_wide_bit_vectors() {
            self.bit_vector_equations();
        }
        if !self.domains.has_numbers() {
            return;
        }
        self.closed_part();
        let time = self.limits(LIMITS.congruences_work);
        let congruences = self.domains.packed_congruences();
        if !self.run("congruences", &self.by_cases(congruences), time) {
            return;
        }
        let time = self.limits(LIMITS.octagons_work);
        let congruences = self.domains.packed_congruences();
        let octagons = Product::new(congruences, self.domains.octagons());
        let octagonal = self.run("octagons", &self.by_cases(octagons), time);
        let time = self.limits(LIMITS.polyhedra_work);
        let polyhedra = self.polyhedra();
        self.run("polyhedra", &self.by_cases(polyhedra), time);
        let guards = guards(self.system, &self.cubes);
        if octagonal && !guards.is_empty() {
            let time = self.limits(LIMITS.phases_work);
            let phases = self.by_cases(self.polyhedra()).split(guards);
            self.run("phases", &phases, time);
        }
    }

    /// Polyhedra over the arguments that change independently of all others. With all arguments the
    /// analysis ends much later or not at all.
    fn closed_part(&mut self) {
        let limits = limits(LIMITS.closed_part_work, self.cx);
        let budget = self.cx.budget.work(limits.time);
        let Some(part) = closed_part(self.system, &budget) else {
            return;
        };
        let mut domains = Catalogue::new(&part, Parameters::PASS, self.cx.budget.clone());
        domains.set_budget(self.cx.budget.work(limits.time + LIMITS.slack_work));
        let cubes = clause_cubes(&part, limits, self.cx);
        let domain = domains.with_bounds(domains.packed_polyhedra(DIMENSIONS));
        self.run_on(&part, &cubes, "polyhedra of closed parts", &domain, limits);
    }

    /// Linear equations between bit-vectors. The pass `equations` finds those of single phases.
    fn bit_vector_equations(&mut self) {
        let time = self.limits(LIMITS.bit_vector_equations_work);
        let modular = self.domains.modular();
        let by_cases = self.domains.by_cases(self.finite(), modular);
        self.run("equations of bit-vectors", &by_cases, time);
    }

    /// The limits of an analysis, which also bound the work of its domains: beyond them domains
    /// lose precision.
    fn limits(&mut self, time: Duration) -> AnalysisLimits {
        let limits = limits(time, self.cx);
        let budget = self.cx.budget.work(limits.time + LIMITS.slack_work);
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

    /// A relational domain combined with bounds, for each valuation of Boolean and bit-vector
    /// arguments.
    fn by_cases<D: Domain>(&self, relational: D) -> Stack<D> {
        let numeric = self.domains.with_bounds(relational);
        self.domains.by_cases(self.finite(), numeric)
    }

    /// Runs one analysis; false if it reached its limit.
    fn run<D: Domain>(&mut self, name: &str, domain: &D, limits: AnalysisLimits) -> bool {
        let cubes = std::mem::take(&mut self.cubes);
        let complete = self.run_on(self.system, &cubes, name, domain, limits);
        self.cubes = cubes;
        complete
    }

    /// The same for a system with the cubes of its clauses. Its predicates have the same formal
    /// variables.
    fn run_on<D: Domain>(
        &mut self,
        system: &System,
        cubes: &[Vec<Cube>],
        name: &str,
        domain: &D,
        limits: AnalysisLimits,
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
            conjuncts.truncate(LIMITS.max_conjuncts);
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

fn limits(time: Duration, cx: &Context) -> AnalysisLimits {
    AnalysisLimits {
        time: within(time, cx),
        ..AnalysisLimits::default()
    }
}

/// The budget of an analysis: `time`, but at most `1 / part_of_run` of the run's limit, or
/// `factor_if_unlimited` times `time` if the run has none. It depends on the limit, not on the
/// remaining time, so that the result does not depend on the machine's load.
pub(super) fn within(time: Duration, cx: &Context) -> Duration {
    within_part(time, LIMITS.part_of_run, cx)
}

/// The same with at most `1 / part` of the run's limit.
pub(super) fn within_part(time: Duration, part: u32, cx: &Context) -> Duration {
    cx.budget
        .length()
        .map_or(time * LIMITS.factor_if_unlimited, |whole| {
            time.min(whole / part)
        })
}
