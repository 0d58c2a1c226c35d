//! Nonlinear clauses: an AND/OR unwinding with tree interpolants.
//!
//! A node is an instance of a clause whose body atoms are older nodes; so it stands for one shape
//! of derivation tree. U(P) is the disjunction of the labels of P's live nodes. A new node is made
//! only where U is no model yet (McMillan and Rybalchenko, "Solving constrained Horn clauses using
//! interpolation", 2013): a clause, and a model of what it derives from U of its body outside U of
//! its head, choose the premises; so tuples of premises are not enumerated. For a query they choose
//! the derivation trees that are looked at. These are unfolded level by level, as far as labels do
//! not refute them; a tree without labels that has a model is a refutation, and a contradiction
//! gives tree interpolants (R), unless what is known of the nodes (`elements`) excludes it already
//! (`exclude`). Nodes are covered as in the linear case; a covered node, and what
//! is made of it, does not count for U, and is there again when a clause needs it.
//!
//! Invariant: for each node, what its clause derives from the labels of its premises is in its
//! label. The search ends when no clause derives anything outside U from U, so U is a model.

pub(super) mod elements;
mod exclude;

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use self::elements::Elements;
use super::facts::Facts;
use super::interpolants::{by_projection, interpolator};
use super::options::{Force, Options};
use super::search::{Counts, End, failed, is_satisfiable};
use alphorn_chc::cutpoints::{Cutpoints, ERROR, Location};
use alphorn_chc::{ClauseIndex, PredicateId, System};
use alphorn_domain::Erased;
use alphorn_interpolation::InterpolationOrder;
use alphorn_proof::{ClauseCopy, Stop, incomplete};
use alphorn_smt::{SatResult, Smt, SmtModel, Solver};
use alphorn_term::run::Context;
use alphorn_term::{TermId, TermStore};
use alphorn_witness::{Fact, Refutation, RefutationStep};

type NodeId = usize;

/// Copies in one tree, at most.
const COPIES: usize = 2000;

/// Nodes for which forced covering is tried.
const FORCED: usize = 4;

/// Nodes that may cover one are tried from the newest on, so many at most.
const CANDIDATES: usize = 64;

struct Node {
    location: Location,
    /// Index in the system.
    clause: usize,
    premises: Vec<NodeId>,
    /// Conjuncts over formal variables.
    label: Vec<TermId>,
    covered_by: Option<NodeId>,
    /// Whether it and all its premises are not covered.
    live: bool,
    height: usize,
    /// The last of the nodes of its location that it is derived from,
    before: Option<NodeId>,
    /// and how many there are, one in another, with itself.
    round: usize,
}

/// A node of a derivation tree.
struct Copy {
    /// `None` at the root.
    node: Option<NodeId>,
    parent: Option<usize>,
    /// The arguments.
    vars: Vec<TermId>,
    /// The clause and the copies of its premises; `None` where the label stands for it.
    unfolded: Option<(ClauseCopy, Vec<usize>)>,
}

/// A derivation tree has a run, or interpolants by copy.
enum Tree {
    Run(Refutation),
    Cuts(Vec<Copy>, Vec<TermId>),
}

/// The state of a run over a nonlinear system.
pub(super) struct HyperSearch<'a> {
    system: &'a System,
    terms: Rc<TermStore>,
    options: &'a Options,
    smt: Rc<Smt>,
    graph: Cutpoints,
    location: FxHashMap<PredicateId, Location>,
    index: ClauseIndex,
    nodes: Vec<Node>,
    /// By location.
    at: Vec<Vec<NodeId>>,
    known: FxHashMap<(usize, Vec<NodeId>), NodeId>,
    /// Clauses that may derive something outside U.
    open: VecDeque<usize>,
    waiting: Vec<bool>,
    /// By clause, with its constraint.
    solvers: Vec<Option<Solver>>,
    implications: Vec<Option<Solver>>,
    pub facts: Facts<'a>,
    elements: Option<Elements<'a>>,
    pub counts: Counts,
    /// The work of the terms when the search began, and what went into elements since.
    begun_at: Duration,
    spent: Duration,
    pub cx: &'a mut Context,
}

impl<'a> HyperSearch<'a> {
    /// A search for a system all of whose clauses are on a way to the error.
    pub fn new(
        system: &'a System,
        options: &'a Options,
        domain: Option<&'a Erased>,
        smt: &Rc<Smt>,
        cx: &'a mut Context,
    ) -> HyperSearch<'a> {
        let graph = Cutpoints::new(system);
        let predicates = graph.predicates.iter().enumerate();
        let location = predicates.filter_map(|(l, p)| Some(((*p)?, l))).collect();
        let locations = graph.predicates.len();
        HyperSearch {
            system,
            terms: system.terms.clone(),
            options,
            smt: smt.clone(),
            facts: Facts::new(system, &graph.predicates, smt, cx),
            graph,
            location,
            index: ClauseIndex::new(system),
            nodes: Vec::new(),
            at: vec![Vec::new(); locations],
            known: FxHashMap::default(),
            open: (0..system.clauses.len()).collect(),
            waiting: vec![true; system.clauses.len()],
            solvers: system.clauses.iter().map(|_| None).collect(),
            implications: (0..locations).map(|_| None).collect(),
            elements: domain.map(|domain| Elements::new(system, domain, smt)),
            counts: Counts::default(),
            begun_at: system.terms.work(),
            spent: Duration::ZERO,
            cx,
        }
    }

    /// The whole search.
    ///
    /// # Errors
    /// A limit, or a defect.
    pub fn run(&mut self) -> Result<End, Stop> {
        while let Some(clause) = self.next() {
            self.go_on()?;
            let (nodes, refinements) = (self.counts.nodes, self.counts.refinements);
            let tell = || format!("{nodes} nodes, {refinements} refinements");
            self.cx.progress.tick(tell);
            let Some(premises) = self.step_outside(clause)? else {
                continue;
            };
            // There may be more.
            self.reopen(clause);
            if self.system.clauses[clause].head.is_some() {
                self.derive(clause, premises)?;
                continue;
            }
            if self.exclude(clause, &premises, TermId::TRUE)? {
                continue;
            }
            match self.unfold(clause, &premises, None)? {
                Some(Tree::Run(refutation)) => return Ok(End::Unsafe(refutation)),
                Some(Tree::Cuts(copies, cuts)) => self.refine(&copies, cuts)?,
                None => return Err(failed("a tree for a query is open")),
            }
            if let Some(definitions) = self.facts.look(self.counts.refinements, self.cx) {
                return Ok(End::Safe(definitions));
            }
        }
        let predicates = self.graph.predicates.iter().enumerate();
        let named = predicates.filter_map(|(l, p)| Some(((*p)?, l)));
        let definition = |l: Location| {
            let facts = self.terms.and(self.facts.of(l));
            self.terms.and(&[facts, self.reached(l)])
        };
        Ok(End::Safe(named.map(|(p, l)| (p, definition(l))).collect()))
    }

    /// The statistics of the run.
    pub fn count(&mut self) {
        self.counts.add_to(&mut self.cx.stats, self.facts.count());
    }

    /// Queries first, then the clause that waits longest.
    fn next(&mut self) -> Option<usize> {
        let is_query = |&c: &usize| self.system.clauses[c].head.is_none();
        let place = self.open.iter().position(is_query).unwrap_or(0);
        let clause = self.open.remove(place)?;
        self.waiting[clause] = false;
        Some(clause)
    }

    fn reopen(&mut self, clause: usize) {
        if !std::mem::replace(&mut self.waiting[clause], true) {
            self.open.push_back(clause);
        }
    }

    /// U of the location grows: what uses it may derive more.
    fn grows(&mut self, location: Location) {
        if let Some(predicate) = self.graph.predicates[location] {
            for clause in self.index.using(predicate).to_vec() {
                self.reopen(clause);
            }
        }
    }

    /// U of the location shrinks: what derives it may be outside.
    fn shrinks(&mut self, location: Location) {
        if let Some(predicate) = self.graph.predicates[location] {
            for clause in self.index.deriving(predicate).to_vec() {
                self.reopen(clause);
            }
        }
    }

    fn live(&self, location: Location) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        let all = self.at[location].iter().copied();
        all.filter(|&n| self.nodes[n].live)
    }

    /// U of the location.
    fn reached(&self, location: Location) -> TermId {
        let labels = self.live(location).map(|n| self.label(n));
        self.terms.or(&labels.collect::<Vec<_>>())
    }

    fn label(&self, node: NodeId) -> TermId {
        self.terms.and(&self.nodes[node].label)
    }

    fn formals(&self, location: Location) -> &'a [TermId] {
        self.graph.formals(self.system, location)
    }

    fn over(&self, location: Location, formula: TermId, vars: &[TermId]) -> TermId {
        let formals = self.formals(location).iter().copied();
        let map = formals.zip(vars.iter().copied()).collect();
        self.terms.substitute(formula, &map)
    }

    fn go_on(&self) -> Result<(), Stop> {
        match self.cx.stop() {
            Some(reason) => Err(Stop::Reason(reason)),
            None => Ok(()),
        }
    }

    /// Premises from which the clause derives something outside U of its head.
    fn step_outside(&mut self, clause: usize) -> Result<Option<Vec<NodeId>>, Stop> {
        let own = &self.system.clauses[clause];
        let mut parts = Vec::new();
        for atom in &own.body {
            let location = self.location[&atom.predicate];
            let reached = self.terms.and(self.facts.of(location));
            let reached = self.terms.and(&[reached, self.reached(location)]);
            parts.push(self.system.instantiate(reached, atom));
        }
        if let Some(head) = &own.head {
            let reached = self.reached(self.location[&head.predicate]);
            let inside = self.system.instantiate(reached, head);
            parts.push(self.terms.not(inside));
        }
        if parts.contains(&TermId::FALSE) {
            return Ok(None);
        }
        let mut solver = self.take_solver(clause);
        let answer = is_satisfiable(&mut solver, &parts, self.cx);
        let model = solver.model();
        self.solvers[clause] = Some(solver);
        if !answer? {
            return Ok(None);
        }
        let model = model.ok_or_else(|| failed("no model of a clause"))?;
        let mut premises = Vec::with_capacity(own.body.len());
        for atom in &own.body {
            let mut live = self.live(self.location[&atom.predicate]);
            let holds = |&n: &NodeId| model.satisfies(self.system.instantiate(self.label(n), atom));
            let chosen = live.find(holds);
            premises.push(chosen.ok_or_else(|| failed("no label of a premise holds"))?);
        }
        Ok(Some(premises))
    }

    /// A solver with the clause's constraint, to be put back.
    fn take_solver(&mut self, clause: usize) -> Solver {
        self.solvers[clause].take().unwrap_or_else(|| {
            let mut solver = self.smt.solver();
            solver.assert(self.system.clauses[clause].constraint);
            solver
        })
    }

    /// Makes a node of the clause and its premises, or revives it, unless other labels can be made
    /// to hold what it derives.
    fn derive(&mut self, clause: usize, premises: Vec<NodeId>) -> Result<(), Stop> {
        let own = &self.system.clauses[clause];
        let location = own
            .head
            .as_ref()
            .map_or(ERROR, |h| self.location[&h.predicate]);
        let key = (clause, premises);
        let known = self.known.get(&key).copied();
        if self.options.force != Force::None {
            let others: Vec<NodeId> = self.live(location).rev().take(FORCED).collect();
            for other in others {
                if !self.nodes[other].live || !key.1.iter().all(|&p| self.nodes[p].live) {
                    return Ok(());
                }
                let outside = self.terms.not(self.label(other));
                if outside == TermId::FALSE {
                    return Ok(());
                }
                if self.exclude(clause, &key.1, outside)? {
                    self.counts.forced += 1;
                    return Ok(());
                }
                if let Some(Tree::Cuts(copies, cuts)) =
                    self.unfold(clause, &key.1, Some(outside))?
                {
                    self.counts.forced += 1;
                    return self.refine(&copies, cuts);
                }
            }
        }
        let node = match known {
            Some(node) => {
                // U does not hold what it derives, so nothing that is live covers it.
                self.nodes[node].covered_by = None;
                self.counts.uncovered += 1;
                node
            }
            None => {
                let heights = key.1.iter().map(|&p| self.nodes[p].height);
                let below = self.below(&key.1);
                let same = |&&n: &&NodeId| self.nodes[n].location == location;
                let before = below.iter().rev().find(same).copied();
                let node = Node {
                    location,
                    clause,
                    premises: key.1.clone(),
                    label: Vec::new(),
                    covered_by: None,
                    live: true,
                    height: heights.max().unwrap_or(0) + 1,
                    before,
                    round: before.map_or(0, |b| self.nodes[b].round) + 1,
                };
                self.counts.nodes += 1;
                self.counts.depth = self.counts.depth.max(node.height as u64);
                self.nodes.push(node);
                let node = self.nodes.len() - 1;
                self.at[location].push(node);
                self.known.insert(key, node);
                node
            }
        };
        self.nodes[node].live = true;
        self.grows(location);
        self.revive(node);
        Ok(())
    }

    /// What is made of the node counts again, as far as nothing else keeps it from that.
    fn revive(&mut self, node: NodeId) {
        for later in node + 1..self.nodes.len() {
            let own = &self.nodes[later];
            let all = own.premises.iter().all(|&p| self.nodes[p].live);
            if !own.live && own.covered_by.is_none() && all {
                self.nodes[later].live = true;
                self.grows(self.nodes[later].location);
            }
        }
    }

    /// The clause's trees over these premises: a run to states that satisfy the goal, over the
    /// head's formal variables, or interpolants that exclude one. `None` where there is a run but
    /// it is no refutation.
    fn unfold(
        &mut self,
        clause: usize,
        premises: &[NodeId],
        goal: Option<TermId>,
    ) -> Result<Option<Tree>, Stop> {
        let head = self.system.clauses[clause].head.as_ref();
        let location = head.map_or(ERROR, |h| self.location[&h.predicate]);
        let mut copies: Vec<Copy> = vec![Copy {
            node: None,
            parent: None,
            vars: self.fresh(location),
            unfolded: None,
        }];
        let mut solver = self.smt.solver();
        let goal = goal.map_or(TermId::TRUE, |g| self.over(location, g, &copies[0].vars));
        solver.assert(goal);
        self.unfold_copy(&mut copies, 0, clause, premises, &mut solver);
        let mut first = 1;
        loop {
            let leaves: Vec<usize> = (first..copies.len()).collect();
            let labels: Vec<TermId> = leaves.iter().map(|&c| self.leaf(&copies[c])).collect();
            if !is_satisfiable(&mut solver, &labels, self.cx)? {
                let cuts = self.interpolate(&copies, goal)?;
                return Ok(Some(Tree::Cuts(copies, cuts)));
            }
            if leaves.is_empty() {
                if head.is_some() {
                    return Ok(None);
                }
                let model = solver.model().ok_or_else(|| failed("no model of a tree"))?;
                return self.derivation(&copies, &model).map(|r| Some(Tree::Run(r)));
            }
            if copies.len() > COPIES {
                return Err(incomplete(format!(
                    "derivation trees need more than {COPIES} nodes"
                )));
            }
            first = copies.len();
            for at in leaves {
                let Some(node) = copies[at].node else {
                    continue;
                };
                let clause = self.nodes[node].clause;
                let premises = self.nodes[node].premises.clone();
                let facts = self.facts_over(&copies[at]);
                solver.assert(facts);
                self.unfold_copy(&mut copies, at, clause, &premises, &mut solver);
            }
        }
    }

    fn fresh(&self, location: Location) -> Vec<TermId> {
        self.graph.fresh_formals(self.system, location)
    }

    fn unfold_copy(
        &self,
        copies: &mut Vec<Copy>,
        at: usize,
        clause: usize,
        premises: &[NodeId],
        solver: &mut Solver,
    ) {
        let first = copies.len();
        for &premise in premises {
            copies.push(Copy {
                node: Some(premise),
                parent: Some(at),
                vars: self.fresh(self.nodes[premise].location),
                unfolded: None,
            });
        }
        let children: Vec<usize> = (first..copies.len()).collect();
        let head = self.system.clauses[clause].head.iter();
        let own = head.flat_map(|_| &copies[at].vars);
        let arguments = children.iter().flat_map(|&c| &copies[c].vars).chain(own);
        let copy = ClauseCopy::new(self.system, clause, arguments.copied(), "clause");
        solver.assert(copy.formula);
        copies[at].unfolded = Some((copy, children));
    }

    fn facts_over(&self, copy: &Copy) -> TermId {
        let location = copy.node.map_or(ERROR, |n| self.nodes[n].location);
        let facts = self.terms.and(self.facts.of(location));
        self.over(location, facts, &copy.vars)
    }

    /// What stands for a copy that is not unfolded.
    fn leaf(&self, copy: &Copy) -> TermId {
        let label = copy.node.map_or(TermId::TRUE, |n| self.label(n));
        let location = copy.node.map_or(ERROR, |n| self.nodes[n].location);
        let label = self.over(location, label, &copy.vars);
        self.terms.and(&[label, self.facts_over(copy)])
    }

    fn interpolate(&mut self, copies: &[Copy], goal: TermId) -> Result<Vec<TermId>, Stop> {
        let terms = &self.terms;
        let formulas = copies.iter().enumerate().map(|(at, copy)| {
            let own = match &copy.unfolded {
                Some((clause, _)) => terms.and(&[clause.formula, self.facts_over(copy)]),
                None => self.leaf(copy),
            };
            terms.and(&[own, if at == 0 { goal } else { TermId::TRUE }])
        });
        let formulas: Vec<TermId> = formulas.collect();
        let parents: Vec<Option<usize>> = copies.iter().map(|c| c.parent).collect();
        let mut interpolator = interpolator(&self.smt, InterpolationOrder::Backward, self.cx);
        let error = match interpolator.tree(&formulas, &parents) {
            Ok(interpolants) => return Ok(interpolants),
            Err(error) => error,
        };
        self.go_on()?;
        log::debug!("interp: {error}; by projection");
        self.counts.projections += 1;
        // What stands for the subtrees that are done, and all other formulas.
        let mut standing = formulas;
        let mut cuts = vec![TermId::FALSE; copies.len()];
        for at in (1..copies.len()).rev() {
            let inside = std::mem::replace(&mut standing[at], TermId::TRUE);
            let outside = self.terms.and(&standing);
            cuts[at] = by_projection(&self.smt, &[inside], outside, &copies[at].vars, self.cx)?;
            if let Some(parent) = copies[at].parent {
                standing[parent] = self.terms.and(&[standing[parent], cuts[at]]);
            }
        }
        Ok(cuts)
    }

    /// Strengthens labels by interpolants, and covers nodes by that.
    fn refine(&mut self, copies: &[Copy], cuts: Vec<TermId>) -> Result<(), Stop> {
        self.counts.refinements += 1;
        let mut lemmas = Vec::with_capacity(copies.len());
        for (copy, cut) in copies.iter().zip(cuts) {
            let (Some(node), Some(_)) = (copy.node, copy.unfolded.as_ref()) else {
                continue;
            };
            self.counts.reachability += 1;
            let location = self.nodes[node].location;
            let here: FxHashSet<TermId> = copy.vars.iter().copied().collect();
            let free = self.terms.free_vars(&[cut]);
            if !free.iter().all(|v| here.contains(v)) {
                return Err(failed("an interpolant has variables of other nodes"));
            }
            let formals = self.formals(location).iter().copied();
            let map = copy.vars.iter().copied().zip(formals).collect();
            lemmas.push((node, self.terms.substitute(cut, &map)));
        }
        self.strengthen(lemmas)
    }

    /// Strengthens labels, and covers nodes by that.
    fn strengthen(&mut self, lemmas: Vec<(NodeId, TermId)>) -> Result<(), Stop> {
        let mut changed: FxHashSet<NodeId> = FxHashSet::default();
        for (node, lemma) in lemmas {
            let location = self.nodes[node].location;
            let parts = self.terms.conjuncts(lemma).into_iter();
            let own = &self.nodes[node].label;
            let fresh: Vec<TermId> = parts
                .filter(|p| *p != TermId::TRUE && !own.contains(p))
                .filter(|p| !self.facts.of(location).contains(p))
                .collect();
            if fresh.is_empty() {
                continue;
            }
            self.nodes[node].label.extend(&fresh);
            self.facts.note(location, &fresh);
            changed.insert(node);
        }
        let mut changed: Vec<NodeId> = changed.into_iter().collect();
        changed.sort_unstable();
        for &node in &changed {
            self.shrinks(self.nodes[node].location);
        }
        for node in changed {
            if self.nodes[node].live {
                self.cover(node)?;
            }
        }
        Ok(())
    }

    /// Covers the node by an older one whose label holds its own.
    fn cover(&mut self, node: NodeId) -> Result<(), Stop> {
        let location = self.nodes[node].location;
        let all: Vec<NodeId> = self.live(location).filter(|&n| n < node).collect();
        for &other in all.iter().rev().take(CANDIDATES) {
            if !self.entails(node, other)? {
                continue;
            }
            self.counts.covered += 1;
            self.nodes[node].covered_by = Some(other);
            self.nodes[node].live = false;
            self.shrinks(location);
            for later in node + 1..self.nodes.len() {
                let own = &self.nodes[later];
                if own.live && own.premises.iter().any(|&p| !self.nodes[p].live) {
                    self.nodes[later].live = false;
                    self.shrinks(self.nodes[later].location);
                }
            }
            return Ok(());
        }
        Ok(())
    }

    fn entails(&mut self, node: NodeId, other: NodeId) -> Result<bool, Stop> {
        let own = &self.nodes[node];
        let known: FxHashSet<TermId> = own.label.iter().copied().collect();
        let open = self.nodes[other].label.iter().copied();
        let open: Vec<TermId> = open.filter(|f| !known.contains(f)).collect();
        if open.is_empty() {
            return Ok(true);
        }
        self.go_on()?;
        let location = own.location;
        let mut assumptions = own.label.clone();
        assumptions.extend(self.facts.of(location));
        assumptions.push(self.terms.not(self.terms.and(&open)));
        let smt = &self.smt;
        let solver = self.implications[location].get_or_insert_with(|| smt.solver());
        Ok(solver.check(&assumptions) == SatResult::Unsat)
    }

    /// Reads the derivation off a model of a tree without leaves. Equal facts are derived once.
    fn derivation(&self, copies: &[Copy], model: &SmtModel) -> Result<Refutation, Stop> {
        let mut steps: Vec<RefutationStep> = Vec::new();
        let mut known: FxHashMap<Option<Fact>, usize> = FxHashMap::default();
        let mut step_of = vec![0; copies.len()];
        // Children come after their parents.
        for (at, copy) in copies.iter().enumerate().rev() {
            let Some((clause, children)) = &copy.unfolded else {
                return Err(failed("a copy is not unfolded"));
            };
            let (values, fact) = clause.ground(self.system, model)?;
            step_of[at] = *known.entry(fact.clone()).or_insert_with(|| {
                steps.push(RefutationStep {
                    clause: self.system.clauses[clause.clause].id,
                    premises: children.iter().map(|&c| step_of[c]).collect(),
                    values,
                    fact,
                });
                steps.len() - 1
            });
        }
        Ok(Refutation { steps })
    }
}
