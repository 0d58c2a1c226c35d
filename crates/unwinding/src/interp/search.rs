//! The search: the order in which nodes are explored, and the visit of a node.
//!
//! A node at the error has a path that is a derivation, or that refinement (`refine`) excludes. Any
//! other node is covered (`cover`), pruned by its location's region (`regions`), the beginning of a
//! path whose end is known (`errors`), or expanded.
//!
//! Invariant: labels are inductive along the edges of the tree; so when no node is open, they and
//! the regions are a model (`model`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};

use super::errors::Suffix;
use super::facts::Facts;
use super::guards::Guards;
use super::labels::Labelled;
use super::limits::LIMITS;
use super::node::{Edge, Node, NodeId, ROOT, State};
use super::obligations::Step;
use super::options::{Blocks, Force, Options, Order};
use super::regions::Region;
use super::weights::Weight;
use alphorn_chc::cutpoints::{Action, Cutpoints, ENTRY, ERROR, Location};
use alphorn_chc::{PredicateId, System};
use alphorn_proof::{ClauseCopy, Failure, Stop, gave_up, incomplete};
use alphorn_smt::{SatResult, Smt, SmtModel, Solver};
use alphorn_term::run::{Context, Moment, Statistics};
use alphorn_term::{TermId, TermStore};
use alphorn_witness::Refutation;

/// The result of a search.
pub(super) enum End {
    /// The clauses have a model: the definitions of the locations' predicates.
    Safe(FxHashMap<PredicateId, TermId>),
    /// A derivation of `false`.
    Unsafe(Refutation),
}

/// Counters for statistics.
#[derive(Default, Clone, Copy)]
pub(super) struct Counts {
    pub nodes: u64,
    pub expanded: u64,
    pub covered: u64,
    pub uncovered: u64,
    pub forced: u64,
    pub pruned: u64,
    pub reports: u64,
    pub replays_failed: u64,
    pub refinements: u64,
    pub obligations: u64,
    pub certificates: u64,
    pub inherited: u64,
    /// Interpolants of paths, by kind.
    pub reachability: u64,
    pub safety: u64,
    pub error: u64,
    /// With obligations: lemmas, blockers from labels, and cubes as suffixes.
    pub lemmas: u64,
    pub blockers: u64,
    pub ends: u64,
    pub domain: u64,
    pub projections: u64,
    pub full: u64,
    pub closed: u64,
    pub depth: u64,
}

impl Counts {
    /// Adds the counters to the statistics of the run.
    pub fn add_to(&self, stats: &mut Statistics, facts: usize) {
        for (name, count) in [
            ("nodes", self.nodes),
            ("expanded", self.expanded),
            ("covered", self.covered),
            ("uncovered", self.uncovered),
            ("forced", self.forced),
            ("pruned-by-S", self.pruned),
            ("reports-by-E", self.reports),
            ("replays-failed", self.replays_failed),
            ("refinements", self.refinements),
            ("obligations", self.obligations),
            ("certificates", self.certificates),
            ("inherited", self.inherited),
            ("interpolants-R", self.reachability),
            ("interpolants-S", self.safety),
            ("interpolants-E", self.error),
            ("lemmas-R", self.lemmas),
            ("blockers-S", self.blockers),
            ("ends-E", self.ends),
            ("labels-D", self.domain),
            ("projections", self.projections),
            ("regions-full", self.full),
            ("regions-closed", self.closed),
            ("facts", facts as u64),
            ("depth", self.depth),
        ] {
            stats.add(&format!("interp.{name}"), count);
        }
    }
}

/// The kinds of interpolants whose work is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Reachability interpolants: labels and covering.
    R,
    /// Safety interpolants: regions.
    S,
    /// Error interpolants: suffixes.
    E,
    /// Certificates for lemmas of obligations.
    C,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::R => "R",
            Kind::S => "S",
            Kind::E => "E",
            Kind::C => "C",
        }
    }
}

/// Work for asserting one term of an edge, including the solver's work on it.
const WORK_PER_EDGE_TERM: Duration = Duration::from_micros(20);

/// The error for a defect of the engine.
pub(super) fn failed(message: &str) -> Stop {
    Stop::Failure(Failure {
        step: "interp",
        message: message.to_owned(),
    })
}

/// Whether the solver's assertions and the assumptions have a model.
///
/// # Errors
/// A limit.
pub(super) fn is_satisfiable(
    solver: &mut Solver,
    assumptions: &[TermId],
    cx: &Context,
) -> Result<bool, Stop> {
    if let Some(reason) = cx.stop() {
        return Err(Stop::Reason(reason));
    }
    match solver.check(assumptions) {
        SatResult::Sat => Ok(true),
        SatResult::Unsat => Ok(false),
        SatResult::Unknown(why) => Err(gave_up(&why, cx)),
    }
}

/// The state of a run over a linear system.
pub(super) struct Search<'a> {
    pub system: &'a System,
    pub terms: Rc<TermStore>,
    pub options: &'a Options,
    pub guards: Guards,
    pub smt: Rc<Smt>,
    pub graph: Cutpoints,
    /// The actions that edges are instances of.
    pub actions: Vec<Action>,
    /// By location: the actions that leave it, in the order of the clauses.
    pub leaving: Vec<Vec<usize>>,
    /// By location: the least number of actions to the error.
    distance: Vec<usize>,
    pub nodes: Vec<Node>,
    /// By location: its nodes.
    pub at: Vec<Vec<NodeId>>,
    /// By location.
    pub regions: Vec<Region>,
    /// By location.
    pub suffixes: Vec<Vec<Suffix>>,
    /// By action.
    pub weights: Vec<Weight>,
    pub facts: Facts<'a>,
    /// The nodes of the path in `path_solver`, from the first below the root on, with the versions
    /// of their labels.
    path: Vec<(NodeId, usize)>,
    pub path_solver: Solver,
    /// By action: a solver with one step.
    pub steps: Vec<Option<Step>>,
    /// By location: a solver for implications between labels.
    pub implications: Vec<Option<Labelled>>,
    /// Pairs of nodes of which the second does not cover the first, and the first one's version.
    pub uncovering: FxHashMap<(NodeId, NodeId), usize>,
    /// Nodes that are to be visited or have actions left; the next one on top.
    queue: BinaryHeap<Reverse<(usize, i64, NodeId)>>,
    stamp: i64,
    pub counts: Counts,
    /// When the search began.
    begun: Moment,
    /// By kind: the work, or time, used for it.
    pub spent: [Duration; 4],
    /// Error nodes in the order in which they were reached, by their paths' actions.
    #[cfg(test)]
    pub error_paths: Vec<Vec<usize>>,
    pub cx: &'a mut Context,
}

impl<'a> Search<'a> {
    /// A search for a linear system in which each predicate is reachable in the dependency graph.
    pub fn new(
        system: &'a System,
        options: &'a Options,
        guards: Guards,
        smt: &Rc<Smt>,
        cx: &'a mut Context,
    ) -> Search<'a> {
        let graph = Cutpoints::new(system);
        let locations = graph.predicates.len();
        let (actions, leaving) = blocks(&graph, options.blocks);
        let regions = leaving.iter().map(|own| Region::new(own.len()));
        Search {
            system,
            terms: system.terms.clone(),
            options,
            guards,
            smt: smt.clone(),
            distance: distances(&actions, &leaving),
            regions: regions.collect(),
            suffixes: (0..locations).map(|_| Vec::new()).collect(),
            weights: vec![Weight::Undefined; actions.len()],
            steps: actions.iter().map(|_| None).collect(),
            facts: Facts::new(system, &graph.predicates, smt, cx),
            at: vec![Vec::new(); locations],
            implications: (0..locations).map(|_| None).collect(),
            graph,
            actions,
            leaving,
            nodes: Vec::new(),
            path: Vec::new(),
            path_solver: smt.solver(),
            uncovering: FxHashMap::default(),
            queue: BinaryHeap::new(),
            stamp: 0,
            counts: Counts::default(),
            begun: cx.budget.now(),
            spent: [Duration::ZERO; 4],
            #[cfg(test)]
            error_paths: Vec::new(),
            cx,
        }
    }

    /// The whole search.
    ///
    /// # Errors
    /// A limit, or a defect.
    pub fn run(&mut self) -> Result<End, Stop> {
        self.add_node(Node::new(ENTRY, Vec::new()));
        self.nodes[ROOT].feasible = true;
        self.expand(ROOT)?;
        while let Some(node) = self.next() {
            self.check_budget()?;
            let (counts, depth) = (self.counts, self.nodes[node].depth);
            self.cx.progress.tick(|| {
                let Counts {
                    nodes, refinements, ..
                } = counts;
                format!("{nodes} nodes, {refinements} refinements, depth {depth}")
            });
            if let Some(refutation) = self.look_at(node)? {
                return Ok(End::Unsafe(refutation));
            }
            if self.seeks_facts() {
                if let Some(definitions) = self.facts.search(self.counts.refinements, self.cx) {
                    return Ok(End::Safe(definitions));
                }
                self.check_budget()?;
            }
        }
        if !self.options.reachability() && self.nodes[ROOT].safe.is_none() {
            return Err(incomplete("loops need reachability interpolants"));
        }
        Ok(End::Safe(self.model()))
    }

    /// Whether facts are sought. The paper's mode does not.
    fn seeks_facts(&self) -> bool {
        self.is_eager() && self.options.reachability()
    }

    /// The next node that is open or has actions left.
    fn next(&mut self) -> Option<NodeId> {
        loop {
            let Reverse((_, _, node)) = self.queue.pop()?;
            if self.is_pending(node) {
                return Some(node);
            }
        }
    }

    fn is_pending(&self, node: NodeId) -> bool {
        let node = &self.nodes[node];
        let todo = match node.state {
            State::Open => true,
            State::Expanded => !node.todo.is_empty(),
            _ => false,
        };
        todo && !node.detached
    }

    /// Adds the node to the queue if it is open or has actions left.
    pub fn push(&mut self, node: NodeId) {
        if !self.is_pending(node) {
            return;
        }
        self.stamp += 1;
        let Node { depth, round, .. } = self.nodes[node];
        let (first, second) = match self.options.search {
            Order::Weighted => (round, -self.stamp),
            Order::Dfs => (0, -self.stamp),
            Order::Bfs => (depth, self.stamp),
        };
        self.queue.push(Reverse((first, second, node)));
    }

    /// Visits an open node, or takes the next action of an expanded one.
    fn look_at(&mut self, node: NodeId) -> Result<Option<Refutation>, Stop> {
        if self.nodes[node].state == State::Open {
            return self.visit(node);
        }
        let action = self.heaviest(node);
        self.nodes[node].todo.retain(|&a| a != action);
        let child = self.make_child(node, action);
        self.push(node);
        self.visit(child)
    }

    /// The action to take next: the heaviest, then the nearest to the error, then the first.
    fn heaviest(&self, node: NodeId) -> usize {
        let todo = &self.nodes[node].todo;
        let first = todo[0];
        if self.options.search != Order::Weighted {
            return first;
        }
        let key = |a: usize| {
            let distance = self.distance[self.actions[a].to];
            (Reverse(self.weights[a].rank()), distance)
        };
        // `min_by_key` returns the first of several minima.
        todo.iter()
            .copied()
            .min_by_key(|&a| key(a))
            .unwrap_or(first)
    }

    fn add_node(&mut self, node: Node) -> NodeId {
        let id = self.nodes.len();
        // The root is the entry, not a location of the program.
        self.counts.nodes += u64::from(id != ROOT);
        self.counts.depth = self.counts.depth.max(node.depth as u64);
        self.at[node.location].push(id);
        self.nodes.push(node);
        id
    }

    /// Makes the child of the node by the action.
    fn make_child(&mut self, parent: NodeId, action: usize) -> NodeId {
        let location = self.actions[action].to;
        let vars = self.fresh_formals(location);
        let edge = self.edge(action, &self.nodes[parent].vars, &vars);
        let mut node = Node::new(location, vars);
        node.parent = Some(parent);
        node.edge = Some(Rc::new(edge));
        node.depth = self.nodes[parent].depth + 1;
        node.round = self.round(parent, location);
        let id = self.add_node(node);
        self.nodes[parent].children.push(id);
        id
    }

    /// How often the path to a child of the node visits one loop head, at most.
    fn round(&self, parent: NodeId, location: Location) -> usize {
        let own = self.graph.is_head[location];
        let chain = self.chain(parent);
        let same = |&&n: &&NodeId| self.nodes[n].location == location;
        let times = if own {
            chain.iter().filter(same).count() + 1
        } else {
            1
        };
        times.max(self.nodes[parent].round)
    }

    /// An instance of the action between these variables.
    pub fn edge(&self, action: usize, from: &[TermId], to: &[TermId]) -> Edge {
        let clauses = self.actions[action].clauses.iter();
        let copies: Vec<ClauseCopy> = clauses
            .map(|&clause| {
                let arguments = from.iter().chain(to).copied();
                ClauseCopy::new(self.system, clause, arguments, "step")
            })
            .collect();
        let formulas: Vec<TermId> = copies.iter().map(|c| c.formula).collect();
        let formula = self.terms.or(&formulas);
        Edge {
            action,
            formula,
            size: self.terms.dag_size(&[formula]),
            copies,
        }
    }

    /// Visits an open node: refutes its path, covers it, prunes it, or expands it. Returns a
    /// derivation of `false` if one is found.
    fn visit(&mut self, node: NodeId) -> Result<Option<Refutation>, Stop> {
        if self.nodes[node].location == ERROR {
            return self.visit_error(node);
        }
        if self.options.obligations() {
            if self.is_excluded(node, TermId::TRUE)? {
                self.refute_by_obligations(node)?;
                return Ok(None);
            }
        } else if self.is_eager() && !self.is_feasible(node)? {
            self.refute(node)?;
            return Ok(None);
        }
        let options = self.options;
        if options.reachability() && self.timed(Kind::R, |s| s.cover(node))? {
            return Ok(None);
        }
        if options.safety()
            && self.has_work_left(Kind::S)
            && self.timed(Kind::S, |s| s.prune(node))?
        {
            return Ok(None);
        }
        if options.error()
            && self.has_work_left(Kind::E)
            && let Some(refutation) = self.timed(Kind::E, |s| s.replay(node))?
        {
            return Ok(Some(refutation));
        }
        if self.nodes[node].state != State::Open || self.nodes[node].detached {
            return Ok(None);
        }
        let forces = options.reachability() && self.forces(node);
        if forces && self.timed(Kind::R, |s| s.force_cover(node))? {
            return Ok(None);
        }
        self.expand(node)?;
        Ok(None)
    }

    fn visit_error(&mut self, node: NodeId) -> Result<Option<Refutation>, Stop> {
        #[cfg(test)]
        {
            let chain = self.chain(node);
            let edges = chain.iter().filter_map(|&n| self.nodes[n].edge.as_ref());
            let path = edges.map(|e| e.action).collect();
            self.error_paths.push(path);
        }
        if self.options.obligations() {
            return match self.refute_by_obligations(node)? {
                Some(cubes) => self.derivation_through(node, &cubes, &[]).map(Some),
                None => Ok(None),
            };
        }
        self.go_to(node);
        match self.path_model(&[])? {
            Some(model) => self.derivation(node, &[], &model).map(Some),
            None => {
                self.refute(node)?;
                Ok(None)
            }
        }
    }

    /// The derivation along the path to the node and these actions, through these cubes (over
    /// formal variables) of the nodes after the root.
    pub fn derivation_through(
        &mut self,
        node: NodeId,
        cubes: &[Vec<TermId>],
        actions: &[usize],
    ) -> Result<Refutation, Stop> {
        let chain = self.chain(node);
        let through = chain[1..].iter().zip(cubes);
        let through = through.flat_map(|(&n, cube)| cube.iter().map(move |&l| (n, l)));
        let through: Vec<TermId> = through.map(|(n, l)| self.over(n, l)).collect();
        let edges = self.edges_from(node, actions);
        self.go_to(node);
        self.path_solver.push();
        for edge in &edges {
            assert_edge(&self.terms, edge, &mut self.path_solver);
        }
        let model = self.path_model(&through);
        self.path_solver.pop();
        let model = model?.ok_or_else(|| failed("no run through the cubes of a path"))?;
        self.derivation(node, &edges, &model)
    }

    /// Instances of the actions as a chain that starts at the node.
    pub fn edges_from(&self, node: NodeId, actions: &[usize]) -> Vec<Edge> {
        let mut from = self.nodes[node].vars.clone();
        let edges = actions.iter().map(|&action| {
            let to = self.fresh_formals(self.actions[action].to);
            let edge = self.edge(action, &from, &to);
            from = to;
            edge
        });
        edges.collect()
    }

    /// Runs the work and counts its cost for this kind of interpolants.
    pub fn timed<T>(&mut self, kind: Kind, work: impl FnOnce(&mut Self) -> T) -> T {
        let (start, begun) = (Instant::now(), self.cx.budget.now());
        let result = work(self);
        self.spent[kind as usize] += self.cost_since(begun);
        let name = format!("interp.time-{}", kind.name());
        self.cx.stats.add_time(&name, start.elapsed());
        result
    }

    /// The cost since then: work for cores of labels, since it is counted; time for interpolants of
    /// paths, since most of their work is not counted.
    fn cost_since(&self, begun: Moment) -> Duration {
        match self.options.obligations() {
            true => begun.work_until(self.terms.work()),
            false => self.cx.budget.passed(begun),
        }
    }

    /// The work that this kind of interpolants may still use; `None` if it has no limit. With
    /// labels, the other kinds are not needed for an answer and have a share; without labels they
    /// have no limit.
    pub fn left_for(&self, kind: Kind) -> Option<Duration> {
        let work = self.cost_since(self.begun);
        let parts = match kind {
            _ if !self.options.obligations() => LIMITS.path_parts,
            Kind::E => LIMITS.suffix_parts,
            _ => LIMITS.parts,
        };
        let part = LIMITS.min_work.max(work / parts);
        let labels = self.options.reachability();
        labels.then(|| part.saturating_sub(self.spent[kind as usize]))
    }

    /// Whether this kind of interpolants may still use work.
    pub fn has_work_left(&self, kind: Kind) -> bool {
        self.left_for(kind).is_none_or(|left| !left.is_zero())
    }

    /// Whether paths, or their last steps, are checked before they end in the error.
    pub fn is_eager(&self) -> bool {
        self.options.blocks == Blocks::Action
    }

    fn forces(&self, node: NodeId) -> bool {
        match self.options.force {
            Force::None => false,
            Force::Heads => self.graph.is_head[self.nodes[node].location],
            Force::All => true,
        }
    }

    /// Expands the node.
    fn expand(&mut self, node: NodeId) -> Result<(), Stop> {
        self.counts.expanded += 1;
        let todo = self.leaving[self.nodes[node].location].clone();
        let is_last = todo.is_empty();
        let own = &mut self.nodes[node];
        own.state = State::Expanded;
        own.expanded = true;
        own.todo = todo;
        if is_last {
            // The error is not reached from a location without actions.
            own.safe = Some(TermId::TRUE);
            self.settle(node)?;
            return self.mark_explored(node);
        }
        self.push(node);
        Ok(())
    }

    /// The nodes from the root to this one, including both.
    pub fn chain(&self, node: NodeId) -> Vec<NodeId> {
        let mut chain = Vec::with_capacity(self.nodes[node].depth + 1);
        let mut at = Some(node);
        while let Some(node) = at {
            chain.push(node);
            at = self.nodes[node].parent;
        }
        chain.reverse();
        chain
    }

    /// Makes `path_solver` assert the path to the node.
    pub fn go_to(&mut self, node: NodeId) {
        let chain = self.chain(node);
        let chain = &chain[1..];
        let pairs = self.path.iter().zip(chain);
        let same = |&(&(a, version), &b): &(&(NodeId, usize), &NodeId)| {
            a == b && version == self.nodes[b].version
        };
        let common = pairs.take_while(same).count();
        while self.path.len() > common {
            self.path.pop();
            self.path_solver.pop();
        }
        for &node in &chain[common..] {
            let own = &self.nodes[node];
            self.path.push((node, own.version));
            self.path_solver.push();
            if let Some(edge) = own.edge.clone() {
                assert_edge(&self.terms, &edge, &mut self.path_solver);
            }
            // Implied by the path; they help the solver.
            let label = self.over(node, self.terms.and(&own.label));
            let known = self.terms.and(&[label, self.facts_at(node)]);
            self.path_solver.assert(known);
        }
    }

    /// A model of the path in `path_solver` under assumptions.
    fn path_model(&mut self, assumptions: &[TermId]) -> Result<Option<SmtModel>, Stop> {
        match self.ask_path(assumptions)? {
            true => {
                let model = self.path_solver.model();
                model.map(Some).ok_or_else(|| failed("no model of a path"))
            }
            false => Ok(None),
        }
    }

    /// Whether the path in `path_solver` is feasible under assumptions.
    pub fn ask_path(&mut self, assumptions: &[TermId]) -> Result<bool, Stop> {
        is_satisfiable(&mut self.path_solver, assumptions, self.cx)
    }

    /// Whether the path to the node is feasible.
    pub fn is_feasible(&mut self, node: NodeId) -> Result<bool, Stop> {
        if self.nodes[node].feasible {
            return Ok(true);
        }
        self.go_to(node);
        let feasible = self.ask_path(&[])?;
        self.nodes[node].feasible = feasible;
        Ok(feasible)
    }

    /// The derivation of a model of the path to the node and of further edges.
    pub fn derivation(
        &self,
        node: NodeId,
        further: &[Edge],
        model: &SmtModel,
    ) -> Result<Refutation, Stop> {
        let chain = self.chain(node);
        let edges = chain.iter().filter_map(|&n| self.nodes[n].edge.as_deref());
        let taken = edges.chain(further).map(|edge| {
            let mut copies = edge.copies.iter();
            let copy = copies.find(|c| model.satisfies(c.literal));
            copy.ok_or_else(|| failed("no clause is chosen"))
        });
        let taken: Vec<&ClauseCopy> = taken.collect::<Result<_, Stop>>()?;
        Ok(ClauseCopy::derivation(taken, self.system, model)?)
    }

    /// The formal variables of the location's predicate.
    pub fn formals(&self, location: Location) -> &'a [TermId] {
        self.graph.formals(self.system, location)
    }

    /// Fresh variables for the formal variables of the location's predicate.
    pub fn fresh_formals(&self, location: Location) -> Vec<TermId> {
        self.graph.fresh_formals(self.system, location)
    }

    /// The formula, over the formal variables of the node's location, with the node's variables.
    pub fn over(&self, node: NodeId, formula: TermId) -> TermId {
        let own = &self.nodes[node];
        let formals = self.formals(own.location).iter().copied();
        let map = formals.zip(own.vars.iter().copied()).collect();
        self.terms.substitute(formula, &map)
    }

    /// The inverse of [`Search::over`] for an interpolant; an error if it has other variables.
    pub fn decoded(&self, node: NodeId, interpolant: TermId) -> Result<TermId, Stop> {
        let own = &self.nodes[node];
        let here: FxHashSet<TermId> = own.vars.iter().copied().collect();
        let free = self.terms.free_vars(&[interpolant]);
        if !free.iter().all(|v| here.contains(v)) {
            return Err(failed("an interpolant has variables of other nodes"));
        }
        let formals = self.formals(own.location).iter().copied();
        let map = own.vars.iter().copied().zip(formals).collect();
        Ok(self.terms.substitute(interpolant, &map))
    }

    /// The facts of the node's location, over the node's variables.
    pub fn facts_at(&self, node: NodeId) -> TermId {
        let facts = self.facts.of(self.nodes[node].location);
        self.over(node, self.terms.and(facts))
    }

    /// An error if the run has to stop.
    pub fn check_budget(&self) -> Result<(), Stop> {
        match self.cx.stop() {
            Some(reason) => Err(Stop::Reason(reason)),
            None => Ok(()),
        }
    }

    /// Adds the statistics of the run.
    pub fn record_statistics(&mut self) {
        self.counts.add_to(&mut self.cx.stats, self.facts.count());
    }
}

/// Asserts that some clause leads along the edge, and counts the work, which long paths need much
/// of.
pub(super) fn assert_edge(terms: &TermStore, edge: &Edge, solver: &mut Solver) {
    terms.charge(WORK_PER_EDGE_TERM * u32::try_from(edge.size).unwrap_or(u32::MAX));
    let literals: Vec<TermId> = edge.copies.iter().map(|c| c.literal).collect();
    for copy in &edge.copies {
        solver.assert(terms.implies(copy.literal, copy.formula));
    }
    solver.assert(terms.or(&literals));
}

/// The actions, and by location those that leave it.
fn blocks(graph: &Cutpoints, blocks: Blocks) -> (Vec<Action>, Vec<Vec<usize>>) {
    let mut actions: Vec<Action> = Vec::new();
    let mut leaving = vec![Vec::new(); graph.leaving.len()];
    for (location, own) in graph.leaving.iter().enumerate() {
        let mut parts: Vec<(Location, Vec<usize>)> = Vec::new();
        for &action in own {
            let (to, clauses) = (graph.actions[action].to, &graph.actions[action].clauses);
            match blocks {
                Blocks::Action => parts.push((to, clauses.clone())),
                Blocks::Clause => parts.extend(clauses.iter().map(|&c| (to, vec![c]))),
            }
        }
        parts.sort_by_key(|(_, clauses)| clauses[0]);
        for (to, clauses) in parts {
            leaving[location].push(actions.len());
            actions.push(Action { to, clauses });
        }
    }
    (actions, leaving)
}

/// By location: the least number of actions to the error.
fn distances(actions: &[Action], leaving: &[Vec<usize>]) -> Vec<usize> {
    let mut into: Vec<Vec<Location>> = vec![Vec::new(); leaving.len()];
    for (from, own) in leaving.iter().enumerate() {
        own.iter().for_each(|&a| into[actions[a].to].push(from));
    }
    let mut distance = vec![usize::MAX; leaving.len()];
    distance[ERROR] = 0;
    let mut round = vec![ERROR];
    let mut steps = 0;
    while !round.is_empty() {
        steps += 1;
        let mut next = Vec::new();
        for from in round.iter().flat_map(|&l| &into[l]).copied() {
            if distance[from] == usize::MAX {
                distance[from] = steps;
                next.push(from);
            }
        }
        round = next;
    }
    distance
}
