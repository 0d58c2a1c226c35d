//! Nonlinear clauses: an AND/OR unwinding with tree interpolants.
//!
//! A node is an instance of a clause whose body atoms are older nodes; it stands for one shape of
//! derivation tree. U(P) is the disjunction of the labels of P's live nodes. A new node is made
//! only where U is no model yet (McMillan and Rybalchenko, "Solving constrained Horn clauses using
//! interpolation", 2013): a clause, and a model of a fact that it derives from U of its body
//! outside U of its head, choose the premises, so tuples of premises are not enumerated. For a
//! query they choose the derivation trees to check. These are unfolded level by level where labels
//! do not refute them; a model of a completely unfolded tree is a refutation, and a contradiction
//! gives tree interpolants (R), unless elements and lemmas of the nodes (`elements`) exclude the
//! tree before (`exclude`). Nodes are covered as in the linear case; a covered node and the nodes
//! derived from it are not in U, and become live again when a clause needs them.
//!
//! Invariant: for each node, its label contains what its clause derives from the labels of its
//! premises. The search ends when no clause derives anything outside U from U, so U is a model, or
//! when facts exclude all queries.

pub(super) mod elements;
mod exclude;

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use self::elements::Elements;
use super::facts::Facts;
use super::interpolants::{by_projection, interpolator};
use super::limits::LIMITS;
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

/// A node, by number in the order of creation.
type NodeId = usize;

/// A node of the unwinding.
struct Node {
    location: Location,
    /// Index in the system.
    clause: usize,
    premises: Vec<NodeId>,
    /// Conjuncts over formal variables.
    label: Vec<TermId>,
    covered_by: Option<NodeId>,
    /// Whether neither it nor any node from which it is derived is covered.
    live: bool,
    /// The height of its derivation tree.
    height: usize,
    /// The newest node of its location from which it is derived.
    before: Option<NodeId>,
    /// The number of nodes of its location in the chain of `before`, including itself.
    round: usize,
}

/// A copy of a node in a derivation tree.
struct Copy {
    /// `None` at the root.
    node: Option<NodeId>,
    parent: Option<usize>,
    /// The arguments.
    vars: Vec<TermId>,
    /// The clause and the copies of its premises; `None` at a leaf, which has its label.
    unfolded: Option<(ClauseCopy, Vec<usize>)>,
}

/// The result of unfolding derivation trees.
enum Tree {
    /// A derivation of `false`.
    Run(Refutation),
    /// The tree is infeasible: its copies and their interpolants.
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
    /// By location: its nodes.
    at: Vec<Vec<NodeId>>,
    /// The node of each clause and tuple of premises.
    known: FxHashMap<(usize, Vec<NodeId>), NodeId>,
    /// Clauses that may derive something outside U.
    open: VecDeque<usize>,
    /// By clause: whether it is in `open`.
    waiting: Vec<bool>,
    /// By clause: a solver with its constraint.
    solvers: Vec<Option<Solver>>,
    /// By location: a solver for implications between labels.
    implications: Vec<Option<Solver>>,
    pub facts: Facts<'a>,
    elements: Option<Elements<'a>>,
    pub counts: Counts,
    /// The work that had been done when the search began.
    work_at_start: Duration,
    /// Time for labels from elements.
    spent: Duration,
    pub cx: &'a mut Context,
}

impl<'a> HyperSearch<'a> {
    /// A search for a system in which all clauses are on a path to the error.
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
            work_at_start: system.terms.work(),
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
            self.check_budget()?;
            let (nodes, refinements) = (self.counts.nodes, self.counts.refinements);
            let progress = || format!("{nodes} nodes, {refinements} refinements");
            self.cx.progress.tick(progress);
            let Some(premises) = self.step_outside(clause)? else {
                continue;
            };
            // The clause may derive more.
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
                None => return Err(failed("a derivation of a query was not returned")),
            }
            if let Some(definitions) = self.facts.search(self.counts.refinements, self.cx) {
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

    /// Adds the statistics of the run.
    pub fn record_statistics(&mut self) {
        self.counts.add_to(&mut self.cx.stats, self.facts.count());
    }

    /// The next clause: queries first, then the clause that has waited longest.
    fn next(&mut self) -> Option<usize> {
        let is_query = |&c: &usize| self.system.clauses[c].head.is_none();
        let place = self.open.iter().position(is_query).unwrap_or(0);
        let clause = self.open.remove(place)?;
        self.waiting[clause] = false;
        Some(clause)
    }

    /// Adds the clause to the open ones.
    fn reopen(&mut self, clause: usize) {
        if !std::mem::replace(&mut self.waiting[clause], true) {
            self.open.push_back(clause);
        }
    }

    /// Reopens the clauses that use the location, whose U has grown.
    fn grows(&mut self, location: Location) {
        if let Some(predicate) = self.graph.predicates[location] {
            for clause in self.index.using(predicate).to_vec() {
                self.reopen(clause);
            }
        }
    }

    /// Reopens the clauses that derive the location, whose U has shrunk.
    fn shrinks(&mut self, location: Location) {
        if let Some(predicate) = self.graph.predicates[location] {
            for clause in self.index.deriving(predicate).to_vec() {
                self.reopen(clause);
            }
        }
    }

    /// The live nodes of the location.
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

    /// The formula, over the formal variables of the location, with these variables instead.
    fn over(&self, location: Location, formula: TermId, vars: &[TermId]) -> TermId {
        let formals = self.formals(location).iter().copied();
        let map = formals.zip(vars.iter().copied()).collect();
        self.terms.substitute(formula, &map)
    }

    /// An error if the run has to stop.
    fn check_budget(&self) -> Result<(), Stop> {
        match self.cx.stop() {
            Some(reason) => Err(Stop::Reason(reason)),
            None => Ok(()),
        }
    }

    /// Premises from which the clause derives a fact outside U of its head.
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
            premises.push(chosen.ok_or_else(|| failed("no label of a premise is satisfied"))?);
        }
        Ok(Some(premises))
    }

    /// A solver with the clause's constraint; the caller has to put it back.
    fn take_solver(&mut self, clause: usize) -> Solver {
        self.solvers[clause].take().unwrap_or_else(|| {
            let mut solver = self.smt.solver();
            solver.assert(self.system.clauses[clause].constraint);
            solver
        })
    }

    /// Makes a node of the clause and its premises, or uncovers the node that there is; unless,
    /// with forced covering, another node's label is made to contain what the clause derives.
    fn derive(&mut self, clause: usize, premises: Vec<NodeId>) -> Result<(), Stop> {
        let own = &self.system.clauses[clause];
        let location = own
            .head
            .as_ref()
            .map_or(ERROR, |h| self.location[&h.predicate]);
        let key = (clause, premises);
        let known = self.known.get(&key).copied();
        if self.options.force != Force::None {
            let newest = self.live(location).rev();
            let others: Vec<NodeId> = newest.take(LIMITS.forced_candidates).collect();
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
                // The clause derives a fact outside U, so no live node covers this one.
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

    /// Makes the later nodes live that are derived from live nodes only and not covered.
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

    /// Unfolds the clause's trees over these premises. Returns a refutation if the clause is a
    /// query; or interpolants if no tree derives a state that satisfies the goal, over the head's
    /// formal variables. `None` if a tree does, and the clause is no query.
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
            if copies.len() > LIMITS.tree_copies {
                let most = LIMITS.tree_copies;
                return Err(incomplete(format!(
                    "derivation trees need more than {most} nodes"
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

    /// Unfolds the copy by the clause: adds copies of the premises, and asserts the clause.
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

    /// The facts of the copy's location over its arguments.
    fn facts_over(&self, copy: &Copy) -> TermId {
        let location = copy.node.map_or(ERROR, |n| self.nodes[n].location);
        let facts = self.terms.and(self.facts.of(location));
        self.over(location, facts, &copy.vars)
    }

    /// The formula of a copy that is not unfolded: its label and the facts.
    fn leaf(&self, copy: &Copy) -> TermId {
        let label = copy.node.map_or(TermId::TRUE, |n| self.label(n));
        let location = copy.node.map_or(ERROR, |n| self.nodes[n].location);
        let label = self.over(location, label, &copy.vars);
        self.terms.and(&[label, self.facts_over(copy)])
    }

    /// Interpolants by copy of a tree that contradicts the goal.
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
        self.check_budget()?;
        log::debug!("interp: {error}; interpolants by projection");
        self.counts.projections += 1;
        // Finished subtrees are replaced by their interpolants.
        let mut remaining = formulas;
        let mut cuts = vec![TermId::FALSE; copies.len()];
        for at in (1..copies.len()).rev() {
            let inside = std::mem::replace(&mut remaining[at], TermId::TRUE);
            let outside = self.terms.and(&remaining);
            cuts[at] = by_projection(&self.smt, &[inside], outside, &copies[at].vars, self.cx)?;
            if let Some(parent) = copies[at].parent {
                remaining[parent] = self.terms.and(&[remaining[parent], cuts[at]]);
            }
        }
        Ok(cuts)
    }

    /// Strengthens labels by interpolants of copies, and covers nodes where this allows it.
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

    /// Strengthens labels by lemmas, and covers nodes where this allows it.
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
            self.facts.add_candidates(location, &fresh);
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

    /// Covers the node by an older one whose label it implies.
    fn cover(&mut self, node: NodeId) -> Result<(), Stop> {
        let location = self.nodes[node].location;
        let all: Vec<NodeId> = self.live(location).filter(|&n| n < node).collect();
        for &other in all.iter().rev().take(LIMITS.covering_candidates) {
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

    /// Whether the node's label implies the other's. False if the solver does not know.
    fn entails(&mut self, node: NodeId, other: NodeId) -> Result<bool, Stop> {
        let own = &self.nodes[node];
        let known: FxHashSet<TermId> = own.label.iter().copied().collect();
        let open = self.nodes[other].label.iter().copied();
        let open: Vec<TermId> = open.filter(|f| !known.contains(f)).collect();
        if open.is_empty() {
            return Ok(true);
        }
        self.check_budget()?;
        let location = own.location;
        let mut assumptions = own.label.clone();
        assumptions.extend(self.facts.of(location));
        assumptions.push(self.terms.not(self.terms.and(&open)));
        let smt = &self.smt;
        let solver = self.implications[location].get_or_insert_with(|| smt.solver());
        Ok(solver.check(&assumptions) == SatResult::Unsat)
    }

    /// The derivation of a model of a completely unfolded tree. Equal facts are derived once.
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
