//! The search of VINTA, over either kind of graph: the paper's procedures as far as they do not
//! depend on how nodes hang together.
//!
//! VINTAMAIN takes turns between EXPANDARG, which labels locations in the recursive iteration
//! strategy, and VINTAREF, which finds a derivation of `false` or stronger labels. What a visit
//! does, how the graph becomes a formula and how interpolants become labels is up to the graph
//! ([`Unwinding`]).
//!
//! Invariant: the search ends with safe labels only after a phase that no refinement followed.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

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

/// Certificates get so much work, or as much as the run took so far, but no more than a part of
/// what is left, before projection takes their place. (With half a second at least, the graphs of
/// token_ring.3 and 4 had interpolants by projection only; they need 0.7 and 1.3 s.)
const SHORTEST_SLICE: Duration = Duration::from_secs(2);
const LONGEST_SLICE: Duration = Duration::from_secs(10);
const SLICES: u32 = 8;

/// A loop's head is widened on each so-manieth visit, as in the paper's experiments.
const WIDEN_EVERY: usize = 3;

/// How often unneeded literals are sought before interpolation, as in the paper.
const CORE_ROUNDS: usize = 3;

/// Cubes that an interpolant is taken apart into for a domain without disjunctions.
pub(super) const LABEL_CUBES: usize = 24;

/// Failures after which the pauses of certificates grow no longer.
const FAILURES: u64 = 5;

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
    /// [`WIDEN_EVERY`], or one for the paper's examples.
    pub widen_every: usize,
    phases: usize,
    refinements: u32,
    /// Refinements for which certificates failed, and refinements until they are tried again.
    projections: u64,
    waiting: u32,
    /// Refinements with interpolants by certificates, and by projection.
    by_kind: [u64; 2],
    /// Time by what was done.
    times: [Duration; Stage::ALL.len()],
    /// When the run began, and the work that had been done then.
    started: Instant,
    begun_at: Duration,
    pub pauses: Pauses<'a>,
    /// The way to other processes.
    exchange: Option<Exchange>,
    pub cx: &'a mut Context,
}

/// What takes time, for statistics.
#[derive(Clone, Copy)]
enum Stage {
    /// EXPANDARG, posts among it.
    Expand,
    /// Whether the graph has a derivation of `false`.
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

/// What the labels and the clauses between them allow.
pub(super) enum Unrolled<E> {
    /// A derivation of `false`.
    Feasible(Refutation),
    /// None: a contradiction that interpolants are made of.
    Infeasible(E),
}

/// What differs between graphs.
pub(super) trait Unwinding {
    /// A formula for the derivations of `false` along the graph.
    type Encoding;

    /// Starts EXPANDARG.
    fn begin_phase(&mut self);

    /// Whether the location is to be visited in this phase.
    fn is_pending(&self, location: Location) -> bool;

    /// Visits the location: labels a node of it by COMPUTEPOST and WIDENWITH, unless there is
    /// nothing new, and says which locations are pending then. At the error: whether it is reached.
    fn visit(&mut self, location: Location) -> Result<(), Stop>;

    /// Whether the last phase did not reach the error.
    fn is_safe(&self) -> bool;

    /// What this phase derived of the location's predicate.
    fn reached(&self, location: Location) -> TermId;

    /// ENCODEBMC. A derivation of `false` if one is found on the way.
    fn encode(&mut self) -> Result<Unrolled<Self::Encoding>, Stop>;

    /// DECODEBMC: a derivation of `false`, if the encoding has one.
    fn decode(&self, encoding: &Self::Encoding) -> Result<Option<Refutation>, Stop>;

    /// Interpolants of the encoding by certificates: VINTARDI, or DAGITP without restriction. An
    /// error says so if it has a model.
    fn by_certificates(
        &self,
        encoding: &Self::Encoding,
        interpolator: &mut Interpolator,
    ) -> Result<Vec<TermId>, InterpolationError>;

    /// The interpolants with what other nodes of the same location have, where it holds.
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

    /// How large the graph is: for statistics, each with its name.
    fn sizes(&self) -> Vec<(&'static str, usize)>;

    /// The graph in Graphviz's language.
    fn picture(&self) -> String;
}

/// How a search ended, `None` for labels that are safe; and the labels.
pub(super) type Outcome = (
    Result<Option<Refutation>, Stop>,
    FxHashMap<PredicateId, TermId>,
);

impl<'a, D: Domain, G> Vinta<'a, D, G> {
    /// A search for a system all of whose clauses are relevant.
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
            widen_every: WIDEN_EVERY,
            smt: smt.clone(),
            posts: Posts::new(system, domain, smt, options.paths),
            phases: 0,
            refinements: 0,
            projections: 0,
            waiting: 0,
            by_kind: [0, 0],
            times: Default::default(),
            started: Instant::now(),
            begun_at: system.terms.work(),
            pauses,
            exchange: Exchange::new(system, cx),
            cx,
        }
    }

    /// The formal variables of the location's predicate.
    pub fn formals(&self, location: Location) -> &'a [TermId] {
        self.cutpoints.formals(self.system, location)
    }

    /// New variables for them.
    pub fn fresh_formals(&self, location: Location) -> Vec<TermId> {
        self.cutpoints.fresh_formals(self.system, location)
    }

    /// A formula over the formal variables of the location, over these variables.
    pub fn over(&self, location: Location, formula: TermId, vars: &[TermId]) -> TermId {
        let formals = self.formals(location).iter().copied();
        let map = formals.zip(vars.iter().copied()).collect();
        self.terms.substitute(formula, &map)
    }

    /// The way back from [`Vinta::over`].
    pub fn decoded(&self, location: Location, formula: TermId, vars: &[TermId]) -> TermId {
        let formals = self.formals(location).iter().copied();
        let map = vars.iter().copied().zip(formals).collect();
        self.terms.substitute(formula, &map)
    }

    /// The same for an interpolant, which must be over these variables.
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

    /// Whether there is a model.
    pub fn check(&self, solver: &mut Solver, assumptions: &[TermId]) -> Result<bool, Stop> {
        self.go_on()?;
        match solver.check(assumptions) {
            SatResult::Sat => Ok(true),
            SatResult::Unsat => Ok(false),
            SatResult::Unknown(why) => Err(gave_up(&why, self.cx)),
        }
    }

    /// An error if the run is to stop.
    pub fn go_on(&self) -> Result<(), Stop> {
        match self.cx.stop() {
            Some(reason) => Err(Stop::Reason(reason)),
            None => Ok(()),
        }
    }

    /// An interpolator that ends in time for projection.
    fn interpolator(&self) -> Interpolator {
        let spent = self.terms.work().saturating_sub(self.begun_at);
        let mut slice = spent.clamp(SHORTEST_SLICE, LONGEST_SLICE);
        if let Some(left) = self.cx.remaining() {
            slice = slice.min(left / SLICES);
        }
        let options = InterpolationOptions {
            core_rounds: CORE_ROUNDS,
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
    /// Does this, and notes its time.
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
        self.count();
        (end, labels)
    }

    /// VINTAMAIN: `None` when the labels are safe, else a derivation of `false`.
    fn main(&mut self) -> Result<Option<Refutation>, Stop> {
        loop {
            self.timed(Stage::Expand, Self::expand_arg)?;
            self.show_phase();
            if self.is_safe() {
                return Ok(None);
            }
            self.tell_labels();
            if let Some(refutation) = self.refine()? {
                return Ok(Some(refutation));
            }
        }
    }

    /// EXPANDARG: one phase, from the entry to the error. WTONEXT and, after a covered node,
    /// WTOEXIT are one function, [`Cutpoints::next`], since it depends on what is pending alone.
    pub(super) fn expand_arg(&mut self) -> Result<(), Stop> {
        self.phases += 1;
        self.begin_phase();
        let mut at = ENTRY;
        let mut visits = 0;
        loop {
            self.go_on()?;
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

    /// VINTAREF, or UFOREF without restriction: a derivation of `false`, or else new labels.
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

    /// Interpolants of the encoding, by certificates unless they have failed lately; or a
    /// derivation. Either way begins with the question whether there is one, so that nothing asks
    /// it before: on large graphs that query is the hardest of all, and projection, which goes step
    /// by step, does without.
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

    /// The same by certificates, unless they are not to be tried now, or fail.
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
                log::debug!("vinta: {error}; by projection");
                // Graphs only grow: what failed will fail again for a while.
                self.projections += 1;
                self.waiting = 1 << self.projections.min(FAILURES);
                Ok(None)
            }
        }
    }

    /// For each location's predicate what the last phase derived.
    fn labels(&self) -> FxHashMap<PredicateId, TermId> {
        let predicates = self.cutpoints.predicates.iter().enumerate();
        let labels = predicates.filter_map(|(l, p)| Some(((*p)?, self.reached(l))));
        labels.collect()
    }

    /// Tells other processes the labels, which all clauses preserve but the queries.
    fn tell_labels(&mut self) {
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
            exchange.tell(self.system, lemmas, []);
        }
    }

    /// A line for the phase that ended, and the picture.
    fn show_phase(&self) {
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

    /// Statistics of the run.
    fn count(&mut self) {
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
