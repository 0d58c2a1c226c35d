//! The state of a search, and its loop over obligations.
//!
//! Invariant: an obligation is closed only when it was reached, was blocked for good, or is a
//! conjecture that is not worth further steps.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use super::array_indexes::AnyIndexes;
use super::exchange::Exchanges;
use super::frame::Frame;
use super::ids::{LemmaId, Node, NodeMap, ObligationId};
use super::levels::{INFINITE, Level, Levels};
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

/// Other predicates with the same sorts of arguments about which a conjecture that became a lemma
/// is conjectured as well, at most.
const SPREAD: usize = 8;

/// How a search ends.
pub(super) enum Outcome {
    Safe(Model),
    Refuted(Refutation),
}

/// A defect, or a model that cannot be read.
pub(super) fn failed(step: &'static str, message: impl ToString) -> Stop {
    Stop::Failure(Failure {
        step,
        message: message.to_string(),
    })
}

/// What became of an obligation.
enum Status {
    Blocked,
    Reached,
    /// It waits for another one.
    Waits,
    /// A conjecture that took too many steps.
    Dropped,
}

/// What a search leaves to the next one.
pub(super) struct Parts {
    pub levels: Levels,
    pub transitions: NodeMap<Option<Transition>>,
    pub frames: NodeMap<Frame>,
}

impl Parts {
    /// The clauses of a system, and frames without lemmas. Predicates that are not used have no
    /// transition relation.
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
    pub system: &'a System,
    pub terms: Rc<TermStore>,
    pub cx: &'a mut Context,
    pub options: Options,
    pub smt: Rc<Smt>,
    pub levels: Levels,
    pub transitions: NodeMap<Option<Transition>>,
    pub frames: NodeMap<Frame>,
    summaries: FxHashMap<Node, Summary>,
    pub obligations: Obligations,
    /// For each predicate, others with the same sorts of arguments.
    pub same_sorts: NodeMap<Vec<Node>>,
    pub counters: Counters,
    /// Lemmas that go to other processes and come from there.
    pub exchanges: Option<Exchanges<'a>>,
    /// Queries of the oracle and their time before this search.
    usage: (u64, Duration),
    started: Instant,
    /// Work of the run before this search.
    pub work_before: Duration,
}

impl<'a> Search<'a> {
    /// A search that knows nothing, with an oracle of its own.
    #[cfg(test)]
    pub fn new(system: &'a System, options: Options, cx: &'a mut Context) -> Self {
        Search::with_indexes(system, options, &mut AnyIndexes::default(), cx)
    }

    /// A search that knows nothing, with an oracle of its own, and with variables for any index that
    /// clauses may mention.
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

    /// A search with transition relations and frames that are there already.
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

    /// The formal variables; none of the query.
    pub fn params(&self, node: Node) -> &[TermId] {
        params(self.system, node)
    }

    /// How it is called in logs.
    pub fn name(&self, node: Node) -> &str {
        match node {
            Node::Predicate(predicate) => &self.system.predicate(predicate).name,
            Node::Query => "false",
        }
    }

    /// Searches until there is a model or a refutation.
    pub fn run(&mut self) -> Result<Outcome, Stop> {
        let root = self.add_root(0);
        for bound in 0.. {
            if self.options.max_level.is_some_and(|max| bound > max) {
                return Err(incomplete(format!(
                    "the query is blocked up to level {bound}"
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

    /// The obligation for the query, at a level.
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

    /// Answers all obligations up to a level. A refutation, or the query is blocked there.
    pub fn block(&mut self, root: ObligationId, bound: Level) -> Result<Option<Refutation>, Stop> {
        self.cx.stats.set("pdr.level", u64::from(bound));
        while let Some(next) = self.obligations.next(bound) {
            if matches!(self.answer(next)?, Status::Reached) && self.close_reached(next, root)? {
                return self.refutation().map(Some);
            }
        }
        Ok(None)
    }

    /// Answers an obligation, or adds one that has to be answered first.
    fn answer(&mut self, id: ObligationId) -> Result<Status, Stop> {
        self.check_limits()?;
        self.show_progress();
        self.exchange()?;
        let obligation = self.obligations.get(id);
        let (node, level) = (obligation.node, obligation.level);
        let cube = obligation.cube.clone();
        match self.known(node, &cube, level)? {
            Known::Reached => return Ok(Status::Reached),
            // What several lemmas exclude together is worth one lemma of its own.
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
                        "a rule without body atoms reached nothing",
                    ));
                };
                if log::log_enabled!(log::Level::Trace) {
                    let text = self.printed(self.terms.and(&child_cube));
                    log::trace!("obligation {} at {below}: {text}", self.name(child.into()));
                }
                self.guide_by_cubes(child.into(), &child_cube, below, id);
                self.frames[child].note_indexes(&self.terms, &child_cube);
                // The child comes first, for its level is lower.
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

    /// Whether this is a conjecture about lemmas that is no lemma yet.
    fn replaces_lemmas(&self, id: ObligationId) -> bool {
        let obligation = self.obligations.get(id);
        !obligation.members.is_empty()
            && !self.frames[obligation.node].knows(&obligation.cube, obligation.level)
    }

    /// A generalisation of what a blocked cube says about an array's cells.
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

    /// Closes a reached obligation and all that are reached because of it; whether the root is.
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

    /// Asks a transition relation.
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

    /// Adds the negation of a cube that is blocked up to a level as a lemma.
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

    /// An obligation is blocked up to a level.
    fn move_up(&mut self, id: ObligationId, blocked: Level) {
        if self.obligations.get(id).steps_left.is_some() {
            // Its lemma is pushed like others; trying again is not worth the steps.
            return self.obligations.close(id);
        }
        match blocked.checked_add(1) {
            Some(next) if next != INFINITE => self.obligations.requeue(id, next),
            _ => self.obligations.close(id),
        }
    }

    /// Whether the run may go on.
    pub fn check_limits(&self) -> Result<(), Stop> {
        if let Some(reason) = self.cx.stop() {
            return Err(Stop::Reason(reason));
        }
        Ok(())
    }

    /// The reason for a query without answer: the limits of the run, or of the oracle.
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

    /// Adds what was counted to the run's statistics.
    pub fn record_statistics(&mut self) {
        let (queries, time) = self.smt.usage();
        let stats = &mut self.cx.stats;
        self.counters.record(stats);
        stats.add("pdr.obligations", self.obligations.len() as u64);
        stats.add("pdr.queries", queries - self.usage.0);
        stats.add_time("pdr.smt", time - self.usage.1);
    }
}

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
            // Those next to it, round and round.
            let others = group.iter().cycle().skip(at + 1).take(group.len() - 1);
            same_sorts[predicate] = others.copied().map(Node::from).take(SPREAD).collect();
        }
    }
    same_sorts
}
