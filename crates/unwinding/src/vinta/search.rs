//! The search of VINTA over either kind of graph: the procedures of the paper that do not depend on
//! how nodes are connected.
//!
//! VINTAMAIN alternates EXPANDARG, which labels locations in the recursive iteration strategy, and
//! VINTAREF, which finds a derivation of `false` or stronger labels. Each graph implements what a
//! visit does, how the graph is encoded and how interpolants become labels ([`Unwinding`]).
//!
//! Invariant: the search returns safe labels only right after a phase that did not reach the error.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::pauses::Pauses;
use super::{Interpolants, Options, failed};
use alphorn_chc::cutpoints::{Cutpoints, ENTRY, ERROR, Location};
use alphorn_chc::{PredicateId, System};
use alphorn_domain::Domain;
use alphorn_interpolation::{InterpolationError, InterpolationOptions, Interpolator};
use alphorn_proof::exchange::Exchange;
use alphorn_proof::posts::Posts;
use alphorn_proof::{Stop, gave_up};
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::run::Context;
use alphorn_term::{TermId, TermStore};
use alphorn_witness::Refutation;

/// The state of a run over a graph.
pub(super) struct Vinta<'a, D: Domain, G> {
    pub system: &'a System,
    pub terms: Rc<TermStore>,
    pub domain: &'a D,
    pub options: &'a Options,
    pub cutpoints: Cutpoints,
    pub smt: Rc<Smt>,
    pub posts: Posts<'a, D>,
    pub graph: G,
    /// The period of widening in visits: that of [`LIMITS`], or one for the paper's examples.
    pub widen_every: usize,
    phases: usize,
    refinements: u32,
    /// Refinements for which certificates failed.
    projections: u64,
    /// Refinements until certificates are tried again.
    waiting: u32,
    /// Refinements with interpolants from certificates, and by projection.
    by_kind: [u64; 2],
    /// Time per stage.
    times: [Duration; Stage::ALL.len()],
    /// When the run began.
    started: Instant,
    /// The work that had been done by then.
    work_at_start: Duration,
    pub pauses: Pauses<'a>,
    /// Labels for other processes.
    exchange: Option<Exchange>,
    pub cx: &'a mut Context,
}

/// A part of the search whose time is recorded.
#[derive(Clone, Copy)]
enum Stage {
    /// EXPANDARG, including posts.
    Expand,
    /// The encoding of the graph.
    Encode,
    Certificates,
    Projection,
}

impl Stage {
    const ALL: [(Stage, &'static str); 4] = [
        (Stage::Expand, "vinta.expand"),
        (Stage::Encode, "vinta.encode"),
        (Stage::Certificates, "vinta.certificates"),
        (Stage::Projection, "vinta.projection"),
    ];
}

/// The result of encoding or interpolating a graph.
pub(super) enum Unrolled<E> {
    /// A derivation of `false`.
    Feasible(Refutation),
    /// No derivation was found: the encoding, or its interpolants.
    Infeasible(E),
}

/// The operations that differ between graphs.
pub(super) trait Unwinding {
    /// A formula for the derivations of `false` along the graph.
    type Encoding;

    /// Begins a phase of EXPANDARG.
    fn begin_phase(&mut self);

    /// Whether the location is to be visited in this phase.
    fn is_pending(&self, location: Location) -> bool;

    /// Visits the location: labels a node of it by COMPUTEPOST and WIDENWITH if there is anything
    /// new, and makes the locations pending that this concerns. At the error: finds whether it is
    /// reached.
    fn visit(&mut self, location: Location) -> Result<(), Stop>;

    /// Whether the last phase did not reach the error.
    fn is_safe(&self) -> bool;

    /// The label of the location's predicate in this phase, over its formal variables.
    fn reached(&self, location: Location) -> TermId;

    /// ENCODEBMC: the encoding, or a derivation of `false` if one is found on the way.
    fn encode(&mut self) -> Result<Unrolled<Self::Encoding>, Stop>;

    /// DECODEBMC: a derivation of `false`, if the encoding has one.
    fn decode(&self, encoding: &Self::Encoding) -> Result<Option<Refutation>, Stop>;

    /// Interpolants from certificates: VINTARDI, or DAGITP without restriction. The error
    /// `Satisfiable` says that the encoding has a model.
    fn by_certificates(
        &self,
        encoding: &Self::Encoding,
        interpolator: &mut Interpolator,
    ) -> Result<Vec<TermId>, InterpolationError>;

    /// The interpolants, with those of other nodes of the same location where these hold.
    fn shared(
        &mut self,
        encoding: &Self::Encoding,
        interpolants: Vec<TermId>,
    ) -> Result<Vec<TermId>, Stop>;

    /// Interpolants of the encoding by projection, or a derivation of `false`.
    fn by_projection(&mut self, encoding: &Self::Encoding) -> Result<Unrolled<Vec<TermId>>, Stop>;

    /// Strengthens the labels by interpolants, or replaces them.
    fn relabel(&mut self, encoding: &Self::Encoding, interpolants: Vec<TermId>)
    -> Result<(), Stop>;

    /// Sizes of the graph for statistics, each with its name.
    fn sizes(&self) -> Vec<(&'static str, usize)>;

    /// The graph in Graphviz's language.
    fn picture(&self) -> String;
}

/// The result of a search (`None` if the labels are safe), and the labels.
pub(super) type Outcome = (
    Result<Option<Refutation>, Stop>,
    FxHashMap<PredicateId, TermId>,
);

impl<'a, D: Domain, G> Vinta<'a, D, G> {
    /// A search for a system in which all clauses are relevant.
    pub fn new(
        system: &'a System,
        domain: &'a D,
        options: &'a Options,
        graph: impl FnOnce(&Cutpoints) -> G,
        smt: &Rc<Smt>,
        pauses: Pauses<'a>,
        cx: &'a mut Context,
    ) -> Self {
        let cutpoints = Cutpoints::new(system);
        Vinta {
            system,
            terms: system.terms.clone(),
            domain,
            options,
            graph: graph(&cutpoints),
            cutpoints,
            widen_every: LIMITS.widening_period,
            smt: smt.clone(),
            posts: Posts::new(system, domain, smt, options.paths),
            phases: 0,
            refinements: 0,
            projections: 0,
            waiting: 0,
            by_kind: [0, 0],
            times: Default::default(),
            started: Instant::now(),
            work_at_start: system.terms.work(),
            pauses,
            exchange: Exchange::new(system, cx),
            cx,
        }
    }

    /// The formal variables of the location's predicate.
    pub fn formals(&self, location: Location) -> &'a [TermId] {
        self.cutpoints.formals(self.system, location)
    }

    /// Fresh variables for the formal variables of the location's predicate.
    pub fn fresh_formals(&self, location: Location) -> Vec<TermId> {
        self.cutpoints.fresh_formals(self.system, location)
    }

    /// The formula, over the formal variables of the location, with these variables instead.
    pub fn over(&self, location: Location, formula: TermId, vars: &[TermId]) -> TermId {
        let formals = self.formals(location).iter().copied();
        let map = formals.zip(vars.iter().copied()).collect();
        self.terms.substitute(formula, &map)
    }

    /// The inverse of [`Vinta::over`].
    pub fn decoded(&self, location: Location, formula: TermId, vars: &[TermId]) -> TermId {
        let formals = self.formals(location).iter().copied();
        let map = vars.iter().copied().zip(formals).collect();
        self.terms.substitute(formula, &map)
    }

    /// An interpolant over formal variables; an error if it has variables other than these.
    pub fn lemma(
        &self,
        location: Location,
        interpolant: TermId,
        vars: &[TermId],
    ) -> Result<TermId, Stop> {
        let own: FxHashSet<TermId> = vars.iter().copied().collect();
        let free = self.terms.free_vars(&[interpolant]);
        if !free.iter().all(|v| own.contains(v)) {
            return Err(failed("an interpolant has variables of other nodes"));
        }
        Ok(self.decoded(location, interpolant, vars))
    }

    /// Whether the location is widened on this visit, the first being 1.
    pub fn widens(&self, location: Location, visit: usize) -> bool {
        self.cutpoints.is_head[location]
            && visit > self.options.widen_delay
            && visit.is_multiple_of(self.widen_every)
    }

    /// Whether the assertions and assumptions have a model.
    pub fn check(&self, solver: &mut Solver, assumptions: &[TermId]) -> Result<bool, Stop> {
        self.check_budget()?;
        match solver.check(assumptions) {
            SatResult::Sat => Ok(true),
            SatResult::Unsat => Ok(false),
            SatResult::Unknown(why) => Err(gave_up(&why, self.cx)),
        }
    }

    /// An error if the run has to stop.
    pub fn check_budget(&self) -> Result<(), Stop> {
        match self.cx.stop() {
            Some(reason) => Err(Stop::Reason(reason)),
            None => Ok(()),
        }
    }

    /// An interpolator whose budget leaves time for projection: as much work as the run has used so
    /// far, within limits.
    fn interpolator(&self) -> Interpolator {
        let spent = self.terms.work().saturating_sub(self.work_at_start);
        let mut slice = spent.clamp(LIMITS.min_certificate_work, LIMITS.max_certificate_work);
        if let Some(left) = self.cx.remaining() {
            slice = slice.min(left / LIMITS.certificate_parts);
        }
        let options = InterpolationOptions {
            core_rounds: LIMITS.core_rounds,
            ..InterpolationOptions::default()
        };
        let mut interpolator = Interpolator::new(&self.smt, options);
        interpolator.set_budget(Some(self.cx.budget.work(slice)));
        interpolator
    }
}

impl<D: Domain, G> Vinta<'_, D, G>
where
    Self: Unwinding,
{
    /// Runs the work and records its time.
    fn timed<T>(&mut self, stage: Stage, work: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let result = work(self);
        let time = start.elapsed();
        self.times[stage as usize] += time;
        let name = Stage::ALL[stage as usize].1;
        log::debug!("{name}: {:.2} s", time.as_secs_f64());
        result
    }

    /// The whole search.
    pub fn run(mut self) -> Outcome {
        let end = self.main();
        let labels = self.labels();
        self.record_statistics();
        if end.is_ok() {
            self.record_answer();
        }
        (end, labels)
    }

    /// VINTAMAIN: `None` if the labels are safe, otherwise a derivation of `false`.
    fn main(&mut self) -> Result<Option<Refutation>, Stop> {
        loop {
            self.timed(Stage::Expand, Self::expand_arg)?;
            self.report_phase();
            if self.is_safe() {
                return Ok(None);
            }
            self.send_labels();
            if let Some(refutation) = self.refine()? {
                return Ok(Some(refutation));
            }
        }
    }

    /// EXPANDARG: one phase, from the entry to the error. WTONEXT and, after a covered node,
    /// WTOEXIT are one function, [`Cutpoints::next`]: the next location depends only on the pending
    /// ones.
    pub(super) fn expand_arg(&mut self) -> Result<(), Stop> {
        self.phases += 1;
        self.begin_phase();
        let mut at = ENTRY;
        let mut visits = 0;
        loop {
            self.check_budget()?;
            self.pauses.take(self.cx)?;
            self.visit(at)?;
            if at == ERROR {
                return Ok(());
            }
            at = self.cutpoints.next(at, |l| self.is_pending(l));
            visits += 1;
            let (phase, refinements) = (self.phases, self.refinements);
            self.cx
                .progress
                .tick(|| format!("phase {phase}, visit {visits}, {refinements} refinements"));
        }
    }

    /// VINTAREF, or UFOREF without restriction: a derivation of `false`, or new labels.
    pub(super) fn refine(&mut self) -> Result<Option<Refutation>, Stop> {
        self.refinements += 1;
        let encoding = match self.timed(Stage::Encode, Self::encode)? {
            Unrolled::Feasible(refutation) => return Ok(Some(refutation)),
            Unrolled::Infeasible(encoding) => encoding,
        };
        match self.interpolants(&encoding)? {
            Unrolled::Feasible(refutation) => Ok(Some(refutation)),
            Unrolled::Infeasible(interpolants) => {
                self.relabel(&encoding, interpolants)?;
                Ok(None)
            }
        }
    }

    /// Interpolants of the encoding, or a derivation: from certificates unless they failed
    /// recently, otherwise by projection. Both decide whether there is a derivation, so nothing
    /// asks that before: on large graphs this is the hardest query, and projection avoids it.
    fn interpolants(
        &mut self,
        encoding: &<Self as Unwinding>::Encoding,
    ) -> Result<Unrolled<Vec<TermId>>, Stop> {
        if let Some(found) = self.timed(Stage::Certificates, |s| s.certified(encoding))? {
            self.by_kind[0] += u64::from(matches!(found, Unrolled::Infeasible(_)));
            return Ok(found);
        }
        let found = self.timed(Stage::Projection, |s| s.by_projection(encoding))?;
        self.by_kind[1] += u64::from(matches!(found, Unrolled::Infeasible(_)));
        Ok(found)
    }

    /// Interpolants from certificates or a derivation; `None` if certificates pause or fail.
    fn certified(
        &mut self,
        encoding: &<Self as Unwinding>::Encoding,
    ) -> Result<Option<Unrolled<Vec<TermId>>>, Stop> {
        if self.options.interpolants == Interpolants::Projection {
            return Ok(None);
        }
        if self.waiting > 0 {
            self.waiting -= 1;
            return Ok(None);
        }
        let found = self.by_certificates(encoding, &mut self.interpolator());
        match (found, self.cx.stop()) {
            (Ok(interpolants), _) => {
                let interpolants = self.shared(encoding, interpolants)?;
                Ok(Some(Unrolled::Infeasible(interpolants)))
            }
            (Err(_), Some(reason)) => Err(Stop::Reason(reason)),
            (Err(InterpolationError::Satisfiable(_)), None) => {
                Ok(self.decode(encoding)?.map(Unrolled::Feasible))
            }
            (Err(error), None) => {
                log::debug!("vinta: {error}; interpolants by projection");
                // Graphs only grow, so certificates would fail again for a while.
                self.projections += 1;
                self.waiting = 1 << self.projections.min(LIMITS.max_pause_exponent);
                Ok(None)
            }
        }
    }

    /// The label of each predicate in the last phase.
    fn labels(&self) -> FxHashMap<PredicateId, TermId> {
        let predicates = self.cutpoints.predicates.iter().enumerate();
        let labels = predicates.filter_map(|(l, p)| Some(((*p)?, self.reached(l))));
        labels.collect()
    }

    /// Sends the labels to other processes. All clauses but the queries preserve them.
    fn send_labels(&mut self) {
        if !self.exchange.as_mut().is_some_and(Exchange::is_due) {
            return;
        }
        let labels = self.labels();
        let mut lemmas: Vec<(PredicateId, TermId)> = Vec::new();
        for (predicate, label) in labels {
            let conjuncts = self.terms.conjuncts(label).into_iter();
            lemmas.extend(conjuncts.map(|conjunct| (predicate, conjunct)));
        }
        lemmas.sort_unstable_by_key(|lemma| lemma.0);
        if let Some(exchange) = &mut self.exchange {
            exchange.send(self.system, lemmas, []);
        }
    }

    /// Logs the phase that ended, and writes the picture if it is wanted.
    fn report_phase(&self) {
        let sizes = self.sizes().into_iter();
        let sizes: Vec<String> = sizes.map(|(name, size)| format!("{size} {name}")).collect();
        log::info!(
            "vinta: phase {}: {}, {} refinements, {} paths, {} images known, {:.1} s",
            self.phases,
            sizes.join(", "),
            self.refinements,
            self.posts.paths,
            self.posts.repeated,
            self.started.elapsed().as_secs_f64()
        );
        if let Some(path) = &self.options.arg
            && let Err(error) = std::fs::write(path, self.picture())
        {
            log::warn!("cannot write {path}: {error}");
        }
    }

    /// Sets the refinements of the run that has the answer. The other statistics are sums over all
    /// runs, also of domains whose turns ended without one.
    fn record_answer(&mut self) {
        let [certificates, projection] = self.by_kind;
        for (name, count) in [
            ("refinements", u64::from(self.refinements)),
            ("certificates", certificates),
            ("projection", projection),
        ] {
            self.cx.stats.set(&format!("vinta.answer.{name}"), count);
        }
    }

    /// Adds the statistics of the run.
    fn record_statistics(&mut self) {
        let sizes = self.sizes();
        let (queries, time) = self.smt.usage();
        let stats = &mut self.cx.stats;
        stats.add("vinta.phases", self.phases as u64);
        for (name, size) in sizes {
            stats.add(&format!("vinta.{name}"), size as u64);
        }
        stats.add("vinta.refinements", u64::from(self.refinements));
        stats.add("vinta.projections", self.projections);
        let [certificates, projection] = self.by_kind;
        stats.add("vinta.interpolants.certificates", certificates);
        stats.add("vinta.interpolants.projection", projection);
        stats.add("vinta.paths", self.posts.paths);
        stats.add("vinta.images.known", self.posts.repeated);
        stats.add("vinta.queries", queries);
        stats.add_time("vinta.smt", time);
        stats.add_time("vinta.posts", self.posts.time);
        for (stage, name) in Stage::ALL {
            stats.add_time(name, self.times[stage as usize]);
        }
    }
}
