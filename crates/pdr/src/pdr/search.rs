//! The state of a search, and its loop over obligations.
//!
//! Invariant: an obligation is closed only when it is reached, blocked at all levels, or no longer
//! of use: a conjecture that is blocked or took too many steps, or an obligation whose parent is
//! closed.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::array_indexes::AnyIndexes;
use super::exchange::Exchanges;
use super::frame::Frame;
use super::ids::{LemmaId, Node, NodeMap, ObligationId};
use super::levels::{INFINITE, Level, Levels};
use super::limits::LIMITS;
use super::obligation::{Obligation, Obligations};
use super::options::Options;
use super::statistics::Counters;
use super::summary::{Known, Summary};
use super::transition::{Answer, Query, Transition};
use alphorn_chc::{ClauseIndex, PredicateId, Shape, System};
use alphorn_proof::{Failure, Stop, gave_up, incomplete};
use alphorn_smt::{Arithmetic, Smt, SmtModel};
use alphorn_term::run::Context;
use alphorn_term::{Printer, SortId, TermId, TermStore};
use alphorn_witness::{Model, Refutation};

/// The answer of a search.
pub(super) enum Outcome {
    /// An inductive interpretation that excludes `false`.
    Safe(Model),
    /// A derivation of `false`.
    Refuted(Refutation),
}

/// The failure of a step: a defect, or a model that cannot be read.
pub(super) fn failed(step: &'static str, message: impl ToString) -> Stop {
    Stop::Failure(Failure {
        step,
        message: message.to_string(),
    })
}

/// The result of one step on an obligation.
enum Status {
    /// Unreachable up to its level.
    Blocked,
    /// Contains a state that is reached.
    Reached,
    /// Has a new child that has to be answered first.
    Waits,
    /// Given up: a conjecture that took too many steps.
    Dropped,
}

/// The parts of a search that the next one can use.
pub(super) struct Parts {
    /// The literals of levels.
    pub levels: Levels,
    /// The transition relations; `None` for predicates that are not used.
    pub transitions: NodeMap<Option<Transition>>,
    /// The frames.
    pub frames: NodeMap<Frame>,
}

impl Parts {
    /// The transition relations of a system, and frames without lemmas.
    pub fn new(smt: &Rc<Smt>, system: &System, options: &Options, any: &mut AnyIndexes) -> Self {
        let terms = &system.terms;
        let index = ClauseIndex::new(system);
        let mut in_use = NodeMap::new(system, |node| node == Node::Query);
        for predicate in system.used_predicates() {
            in_use[predicate] = true;
        }
        let transitions = NodeMap::new(system, |node| {
            let clauses = match node {
                Node::Predicate(predicate) => index.deriving(predicate),
                Node::Query => index.queries(),
            };
            let params = params(system, node);
            in_use[node].then(|| Transition::new(system, smt, node, params, clauses, any.vars()))
        });
        let frames = NodeMap::new(system, |node| match options.quantify {
            true => Frame::new(&any.of(terms, params(system, node))),
            false => Frame::default(),
        });
        Parts {
            levels: Levels::new(terms.clone()),
            transitions,
            frames,
        }
    }
}

/// The state of a search.
pub(super) struct Search<'a> {
    /// The clauses.
    pub system: &'a System,
    /// The store of the system's terms.
    pub terms: Rc<TermStore>,
    /// Budget and statistics of the run.
    pub cx: &'a mut Context,
    /// The settings.
    pub options: Options,
    /// The solver context.
    pub smt: Rc<Smt>,
    /// The literals of levels.
    pub levels: Levels,
    /// The transition relations; `None` for predicates that are not used.
    pub transitions: NodeMap<Option<Transition>>,
    /// May- and must-summaries.
    pub frames: NodeMap<Frame>,
    /// The frames in solvers, made when first asked.
    summaries: FxHashMap<Node, Summary>,
    /// All obligations and their queue.
    pub obligations: Obligations,
    /// For each predicate, some others with arguments of the same sorts.
    pub same_sorts: NodeMap<Vec<Node>>,
    /// What the statistics show.
    pub counters: Counters,
    /// The exchange with other processes, if there are any.
    pub exchanges: Option<Exchanges<'a>>,
    /// Queries of the solver context and their time before this search.
    usage: (u64, Duration),
    /// When the search began, for progress messages.
    started: Instant,
    /// Work of the term store before this search.
    pub work_before: Duration,
}

impl<'a> Search<'a> {
    /// A search with empty frames and its own solver context.
    #[cfg(test)]
    pub fn new(system: &'a System, options: Options, cx: &'a mut Context) -> Self {
        Search::with_indexes(system, options, &mut AnyIndexes::default(), cx)
    }

    /// A search with empty frames, its own solver context, and variables for any index that clauses
    /// may contain.
    pub fn with_indexes(
        system: &'a System,
        options: Options,
        any: &mut AnyIndexes,
        cx: &'a mut Context,
    ) -> Self {
        let smt = Smt::within(&cx.budget);
        if options.older_simplex && !Shape::of(system).theories.nonlinear_arithmetic {
            smt.set_arithmetic(Arithmetic::Simplex);
        }
        let parts = Parts::new(&smt, system, &options, any);
        Search::from_parts(smt, system, options, cx, parts)
    }

    /// A search with existing transition relations and frames.
    pub fn from_parts(
        smt: Rc<Smt>,
        system: &'a System,
        options: Options,
        cx: &'a mut Context,
        parts: Parts,
    ) -> Self {
        Search {
            levels: parts.levels,
            transitions: parts.transitions,
            frames: parts.frames,
            summaries: FxHashMap::default(),
            obligations: Obligations::default(),
            same_sorts: same_sorts(system),
            counters: Counters::default(),
            exchanges: None,
            usage: smt.usage(),
            started: Instant::now(),
            work_before: system.terms.work(),
            terms: system.terms.clone(),
            system,
            cx,
            options,
            smt,
        }
    }

    /// The formal variables of a predicate; the query has none.
    pub fn params(&self, node: Node) -> &[TermId] {
        params(self.system, node)
    }

    /// The name of a predicate, or `false`, for logs.
    pub fn name(&self, node: Node) -> &str {
        match node {
            Node::Predicate(predicate) => &self.system.predicate(predicate).name,
            Node::Query => "false",
        }
    }

    /// Searches until there is a model or a refutation.
    ///
    /// # Errors
    /// A limit of the run or of the settings, or a failure.
    pub fn run(&mut self) -> Result<Outcome, Stop> {
        let root = self.add_root(0);
        for bound in 0.. {
            if self.options.max_level.is_some_and(|max| bound > max) {
                return Err(incomplete(format!(
                    "the query is blocked below level {bound}"
                )));
            }
            if let Some(refutation) = self.block(root, bound)? {
                return Ok(Outcome::Refuted(refutation));
            }
            if let Some(level) = self.propagate(bound)? {
                return Ok(Outcome::Safe(self.model(level)));
            }
            log::debug!(
                "level {bound}: {} obligations, {} lemmas, {} facts, {} queries",
                self.obligations.len(),
                self.counters.lemmas,
                self.counters.facts,
                self.smt.usage().0
            );
        }
        Err(incomplete("no level is left"))
    }

    /// Adds the obligation of the query at a level.
    pub fn add_root(&mut self, level: Level) -> ObligationId {
        self.obligations.add(Obligation {
            node: Node::Query,
            cube: Vec::new(),
            level,
            depth: 0,
            parent: None,
            closed: false,
            steps_left: None,
            members: Vec::new(),
        })
    }

    /// Answers all obligations up to the level `bound`. Returns a refutation, or `None` when the
    /// query (`root`) is blocked there.
    pub fn block(&mut self, root: ObligationId, bound: Level) -> Result<Option<Refutation>, Stop> {
        self.cx.stats.set("pdr.level", u64::from(bound));
        while let Some(next) = self.obligations.next(bound) {
            if matches!(self.answer(next)?, Status::Reached) && self.close_reached(next, root)? {
                return self.refutation().map(Some);
            }
        }
        Ok(None)
    }

    /// Takes one step on an obligation: answers it, or adds one that has to be answered first.
    fn answer(&mut self, id: ObligationId) -> Result<Status, Stop> {
        self.check_limits()?;
        self.show_progress();
        self.exchange()?;
        let obligation = self.obligations.get(id);
        let (node, level) = (obligation.node, obligation.level);
        let cube = obligation.cube.clone();
        match self.known(node, &cube, level)? {
            Known::Reached => return Ok(Status::Reached),
            // One lemma is to replace the several lemmas that exclude the cube.
            Known::Blocked(_) if self.replaces_lemmas(id) => {}
            Known::Blocked(up_to) => {
                self.move_up(id, up_to);
                return Ok(Status::Blocked);
            }
            Known::Open | Known::Unknown(_) => {}
        }
        let from = level.checked_sub(1);
        let query = Query {
            from,
            cube: &cube,
            assume: None,
            must: &[],
            reached: None,
            rule: None,
        };
        match self.ask(node, query)? {
            Answer::Unsat { cube, level } => {
                let (cube, level) = self.generalise(node, cube, level, from)?;
                let (cube, level) = match self.generalise_cells(node, &cube, from)? {
                    Some((cube, level)) => self.generalise(node, cube, level, from)?,
                    None => (cube, level),
                };
                let lemma = self.learn(node, &cube, level);
                let members = std::mem::take(self.obligations.members(id));
                self.subsume(node, &members, lemma)?;
                self.guide(id, lemma);
                self.spread(id, node, &cube);
                self.move_up(id, level);
                Ok(Status::Blocked)
            }
            Answer::Sat => {
                let model = self.last_model(node)?;
                if self.reach(node, &cube, level)? {
                    return Ok(Status::Reached);
                }
                let (child, child_cube) = self.predecessor(node, &cube, from, model)?;
                if !self.obligations.take_step(id) {
                    self.obligations.give_up(id);
                    return Ok(Status::Dropped);
                }
                let depth = self.obligations.get(id).depth + 1;
                let steps_left = self.obligations.get(id).steps_left;
                let Some(below) = from else {
                    return Err(failed(
                        "search",
                        "an entry clause has a model, but derives no fact",
                    ));
                };
                if log::log_enabled!(log::Level::Trace) {
                    let text = self.printed(self.terms.and(&child_cube));
                    log::trace!("obligation {} at {below}: {text}", self.name(child.into()));
                }
                self.guide_by_cubes(child.into(), &child_cube, below, id);
                self.frames[child].note_indexes(&self.terms, &child_cube);
                // The child is answered first, since its level is lower.
                self.obligations.enqueue(id);
                self.obligations.add(Obligation {
                    node: child.into(),
                    cube: child_cube,
                    level: below,
                    depth,
                    parent: Some(id),
                    closed: false,
                    steps_left,
                    members: Vec::new(),
                });
                Ok(Status::Waits)
            }
            Answer::Unknown(why) => Err(self.gave_up(&why)),
        }
    }

    /// Whether this is a conjecture that would replace lemmas and is not yet a lemma.
    fn replaces_lemmas(&self, id: ObligationId) -> bool {
        let obligation = self.obligations.get(id);
        !obligation.members.is_empty()
            && !self.frames[obligation.node].knows(&obligation.cube, obligation.level)
    }

    /// A blocked cube that generalizes the literals of a blocked cube about cells of arrays.
    fn generalise_cells(
        &mut self,
        node: Node,
        cube: &[TermId],
        from: Option<Level>,
    ) -> Result<Option<(Vec<TermId>, Level)>, Stop> {
        match self.disequality(node, cube, from)? {
            Some(found) => Ok(Some(found)),
            None => self.quantify(node, cube, from),
        }
    }

    /// Closes a reached obligation and its ancestors that are therefore reached. Returns whether
    /// the root is reached.
    fn close_reached(&mut self, mut id: ObligationId, root: ObligationId) -> Result<bool, Stop> {
        loop {
            self.obligations.close(id);
            if id == root {
                return Ok(true);
            }
            let parent = self.obligations.get(id).parent;
            let Some(parent) = parent.filter(|&p| !self.obligations.get(p).closed) else {
                return Ok(false);
            };
            self.check_limits()?;
            let obligation = self.obligations.get(parent);
            let (node, level) = (obligation.node, obligation.level);
            let cube = obligation.cube.clone();
            if !self.reach(node, &cube, level)? {
                return Ok(false);
            }
            id = parent;
        }
    }

    /// What the summaries of a predicate say about a cube at a level.
    pub fn known(&mut self, node: Node, cube: &[TermId], level: Level) -> Result<Known, Stop> {
        let summary = self
            .summaries
            .entry(node)
            .or_insert_with(|| Summary::new(&self.terms, &self.smt));
        let frame = &self.frames[node];
        let known = summary.look_up(cube, level, frame, &mut self.levels);
        match known {
            Known::Unknown(why) if self.cx.stop().is_some() => Err(self.gave_up(&why)),
            known => Ok(known),
        }
    }

    /// Queries a transition relation after adding new lemmas and facts to its solver.
    pub fn ask(&mut self, node: Node, query: Query) -> Result<Answer, Stop> {
        self.check_limits()?;
        let Some(transition) = &mut self.transitions[node] else {
            return Err(failed("search", "a predicate without clauses"));
        };
        transition.catch_up(&self.frames, &mut self.levels);
        Ok(transition.query(query, &mut self.levels))
    }

    /// The model of the last query to a transition relation.
    pub fn last_model(&self, node: Node) -> Result<SmtModel, Stop> {
        let transition = self.transitions[node].as_ref();
        transition
            .and_then(Transition::model)
            .ok_or_else(|| failed("reading a model", "there is none"))
    }

    /// Adds a lemma: the negation of a cube that is blocked up to a level.
    pub fn learn(&mut self, node: Node, cube: &[TermId], level: Level) -> LemmaId {
        let (lemma, new) = self.frames[node].add(&self.terms, cube, level);
        self.counters.lemmas += u64::from(new);
        if log::log_enabled!(log::Level::Trace) {
            let text = self.printed(self.frames[node].lemmas[lemma].clause);
            log::trace!("lemma {} at {level}: {text}", self.name(node));
        }
        lemma
    }

    /// A formula as text, for logs.
    pub fn printed(&self, formula: TermId) -> String {
        Printer::new(&self.terms).term(formula)
    }

    /// Puts an obligation that is blocked up to a level into the queue at the next level; closes it
    /// if there is none, or if it is a conjecture.
    fn move_up(&mut self, id: ObligationId, blocked: Level) {
        if self.obligations.get(id).steps_left.is_some() {
            // The conjecture's lemma is pushed like other lemmas.
            return self.obligations.close(id);
        }
        match blocked.checked_add(1) {
            Some(next) if next != INFINITE => self.obligations.requeue(id, next),
            _ => self.obligations.close(id),
        }
    }

    /// # Errors
    /// The reason to stop, if a limit of the run is reached.
    pub fn check_limits(&self) -> Result<(), Stop> {
        if let Some(reason) = self.cx.stop() {
            return Err(Stop::Reason(reason));
        }
        Ok(())
    }

    /// The reason of a query without an answer: a limit of the run, or the solver's reason.
    pub fn gave_up(&self, why: &str) -> Stop {
        gave_up(why, self.cx)
    }

    fn show_progress(&mut self) {
        let (queries, _) = self.smt.usage();
        let (obligations, counters, started) =
            (self.obligations.len(), &self.counters, self.started);
        let level = self.cx.stats.count("pdr.level");
        self.cx.progress.tick(|| {
            let seconds = started.elapsed().as_secs_f64();
            format!(
                "level {level}, {obligations} obligations, {} lemmas, {} facts, {:.0} queries/s",
                counters.lemmas,
                counters.facts,
                queries as f64 / seconds.max(0.001),
            )
        });
    }

    /// Adds the counters to the statistics of the run.
    pub fn record_statistics(&mut self) {
        let (queries, time) = self.smt.usage();
        let stats = &mut self.cx.stats;
        self.counters.record(stats);
        stats.add("pdr.obligations", self.obligations.len() as u64);
        stats.add("pdr.queries", queries - self.usage.0);
        stats.add_time("pdr.smt", time - self.usage.1);
    }
}

/// The formal variables of a predicate; the query has none.
fn params(system: &System, node: Node) -> &[TermId] {
    match node {
        Node::Predicate(predicate) => &system.predicate(predicate).params,
        Node::Query => &[],
    }
}

/// For each predicate, some others with arguments of the same sorts.
fn same_sorts(system: &System) -> NodeMap<Vec<Node>> {
    let mut by_sorts: FxHashMap<Vec<SortId>, Vec<PredicateId>> = FxHashMap::default();
    for predicate in system.used_predicates() {
        let params = system.predicate(predicate).params.iter();
        let sorts = params.map(|&p| system.terms.sort_of(p)).collect();
        by_sorts.entry(sorts).or_default().push(predicate);
    }
    let mut same_sorts = NodeMap::new(system, |_| Vec::new());
    for group in by_sorts.values() {
        for (at, &predicate) in group.iter().enumerate() {
            // The next ones in the group, cyclically.
            let others = group.iter().cycle().skip(at + 1).take(group.len() - 1);
            same_sorts[predicate] = others
                .copied()
                .map(Node::from)
                .take(LIMITS.spread_predicates)
                .collect();
        }
    }
    same_sorts
}
