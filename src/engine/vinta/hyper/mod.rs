//! VINTA for nonlinear clauses: co-premises contribute their labels, tree interpolants refine.
//!
//! The paper is about programs, so about linear clauses; this is its algorithm over hyperedges.
//!
//! - The abstract reachability graph is a hypergraph. A location's nodes form a chain, and each label
//!   contains those before it in the chain. A node has one hyperedge for each clause of its
//!   location, and the premises of the hyperedge are the nodes that were last in their chains when
//!   the node was made. So hyperedges need not be stored: a node's number is its time.
//! - EXPANDARG (`expand`) follows the recursive iteration strategy over the weak topological order of
//!   the graph with an edge from each body atom to the head. A location whose clauses derive more
//!   than its last label has gets a new node. When a label grows, all clauses that use it are looked
//!   at again.
//! - If no query follows from the last labels, these are a model. Else derivation trees are unfolded
//!   from the queries (`unfold`), as far as labels do not refute them already. A model of the tree
//!   whose leaves are all unfolded is a refutation.
//! - Else VINTAREF (`refine`): a tree interpolant is a label for each tree node, which follows from the
//!   labels and the clauses below it. A node's new label is its old one with the interpolants of
//!   its copies in the tree and those of the nodes after it in its chain. Nodes that are
//!   covered by then leave their chains.
//!
//! A label is what the domain knows and some lemmas, conjuncts of interpolants. A new node keeps the
//! lemmas of the one before that its clauses preserve, as in UFO's predicate abstraction; the
//! paper's labels are what the domain says. In UFO's refinement (unrestricted) labels take no part in
//! the tree, and the new labels are the interpolants alone.
//!
//! Invariant: for every node and every clause of its location, what the clause derives from the labels
//! of the node's premises is in the node's label.

mod expand;
mod project;
mod refine;
mod unfold;

use std::fmt::Write;
use std::rc::Rc;
use std::time::Instant;

use rustc_hash::FxHashMap;

use self::unfold::Unfolding;
use super::arg::{printed, quoted};
use super::cutpoints::{Cutpoints, ERROR, Location};
use super::pauses::Pauses;
use super::post::{Posts, Premise, Source};
use super::{Options, Search, Stop};
use crate::chc::{PredicateId, System};
use crate::domain::Domain;
use crate::run::Context;
use crate::run::Reason;
use crate::smt::Smt;
use crate::term::{TermId, TermStore};
use crate::witness::Refutation;

/// A node, by number, which is its time, too.
type NodeId = usize;

/// An unrolling of a location.
struct Node<E> {
    location: Location,
    /// Over the formal variables of the location's predicate: the element and the lemmas.
    label: TermId,
    element: E,
    lemmas: Vec<TermId>,
}

/// A clause, the labels of its premises, and a label: does the label hold all that the clause derives?
type Step = (usize, Vec<TermId>, TermId);

/// The state of a run.
struct Hyper<'a, D: Domain> {
    system: &'a System,
    terms: Rc<TermStore>,
    domain: &'a D,
    options: &'a Options,
    cutpoints: Cutpoints,
    /// By location, the error's, too: its clauses.
    defining: Vec<Vec<usize>>,
    /// By clause: the locations of its body.
    bodies: Vec<Vec<Location>>,
    smt: Rc<Smt>,
    posts: Posts<'a, D>,
    nodes: Vec<Node<D::Element>>,
    /// By location: its nodes, in the order of time.
    chains: Vec<Vec<NodeId>>,
    /// What is known of steps.
    steps: FxHashMap<Step, bool>,
    phases: u64,
    refinements: u32,
    /// Nodes of trees.
    unfolded: u64,
    /// Refinements for which certificates failed, and refinements until they are tried again.
    projections: u64,
    waiting: u32,
    started: Instant,
    pauses: Pauses<'a>,
    cx: &'a mut Context,
}

/// VINTA for a system all of whose clauses are relevant.
pub(super) fn search<'a, D: Domain>(
    system: &'a System,
    domain: &'a D,
    options: &'a Options,
    smt: &Rc<Smt>,
    pauses: Pauses<'a>,
    cx: &'a mut Context,
) -> Search {
    let cutpoints = Cutpoints::new(system);
    let locations = cutpoints.predicates.len();
    let mut at: FxHashMap<PredicateId, Location> = FxHashMap::default();
    for (location, predicate) in cutpoints.predicates.iter().enumerate() {
        at.extend(predicate.map(|p| (p, location)));
    }
    let mut defining = vec![Vec::new(); locations];
    let mut bodies = Vec::with_capacity(system.clauses.len());
    for (index, clause) in system.clauses.iter().enumerate() {
        let head = clause.head.as_ref();
        defining[head.map_or(ERROR, |h| at[&h.predicate])].push(index);
        bodies.push(clause.body.iter().map(|a| at[&a.predicate]).collect());
    }
    let mut hyper = Hyper {
        terms: system.terms.clone(),
        posts: Posts::new(system, domain, smt, options),
        smt: smt.clone(),
        system,
        domain,
        options,
        cutpoints,
        defining,
        bodies,
        nodes: Vec::new(),
        chains: vec![Vec::new(); locations],
        steps: FxHashMap::default(),
        phases: 0,
        refinements: 0,
        unfolded: 0,
        projections: 0,
        waiting: 0,
        started: Instant::now(),
        pauses,
        cx,
    };
    let outcome = hyper.main();
    let labels = hyper.labels();
    hyper.finish();
    (outcome, labels)
}

impl<D: Domain> Hyper<'_, D> {
    /// VINTAMAIN: `None` when the labels are safe, else a derivation of `false`.
    fn main(&mut self) -> Result<Option<Refutation>, Stop> {
        loop {
            self.expand_arg()?;
            self.show_phase();
            let queries = self.queries_reached()?;
            if queries.is_empty() {
                return Ok(None);
            }
            let most = self.options.max_refinements;
            if most.is_some_and(|most| self.refinements >= most) {
                let refinements = self.refinements;
                return Err(Stop::Reason(Reason::Incomplete(format!(
                    "false alarms are left after {refinements} refinements"
                ))));
            }
            self.refinements += 1;
            match self.unfold(&queries)? {
                Unfolding::Feasible(refutation) => return Ok(Some(refutation)),
                Unfolding::Infeasible(tree) => self.refine(&tree)?,
            }
        }
    }

    /// The queries that follow from the last labels.
    fn queries_reached(&mut self) -> Result<Vec<usize>, Stop> {
        let mut reached = Vec::new();
        for at in 0..self.defining[ERROR].len() {
            if let Some(reason) = self.cx.stop() {
                return Err(Stop::Reason(reason));
            }
            let query = self.defining[ERROR][at];
            let Some(premises) = self.premises(query, self.nodes.len()) else {
                continue;
            };
            let source = source(&self.terms, &self.nodes, &premises, TermId::FALSE);
            if self.posts.is_possible(query, &source, self.cx)? {
                reached.push(query);
            }
        }
        Ok(reached)
    }

    /// The premises of the clause's hyperedge at this time; `None` if a location has no node yet.
    fn premises(&self, clause: usize, time: NodeId) -> Option<Vec<NodeId>> {
        let body = self.bodies[clause].iter();
        body.map(|&location| self.last(location, time)).collect()
    }

    /// The last node of the location before this time.
    fn last(&self, location: Location, time: NodeId) -> Option<NodeId> {
        let chain = &self.chains[location];
        let before = chain.partition_point(|&n| n < time);
        before.checked_sub(1).map(|at| chain[at])
    }

    /// The clause's step from the premises into the label.
    fn step(&self, clause: usize, premises: &[NodeId], label: TermId) -> Step {
        let labels = premises.iter().map(|&n| self.nodes[n].label);
        (clause, labels.collect(), label)
    }

    /// For each location's predicate its last label.
    fn labels(&self) -> FxHashMap<PredicateId, TermId> {
        let mut labels = FxHashMap::default();
        for (location, predicate) in self.cutpoints.predicates.iter().enumerate() {
            let last = self.chains[location].last();
            let label = last.map_or(TermId::FALSE, |&n| self.nodes[n].label);
            labels.extend(predicate.map(|p| (p, label)));
        }
        labels
    }

    /// A line for the phase that ended, and the picture.
    fn show_phase(&mut self) {
        self.phases += 1;
        log::info!(
            "vinta: phase {}: {} nodes, {} refinements, {} unfolded, {} paths, {:.1} s",
            self.phases,
            self.chains.iter().map(Vec::len).sum::<usize>(),
            self.refinements,
            self.unfolded,
            self.posts.paths,
            self.started.elapsed().as_secs_f64()
        );
        if let Some(path) = &self.options.arg
            && let Err(error) = std::fs::write(path, self.to_graphviz())
        {
            log::warn!("cannot write {path}: {error}");
        }
    }

    /// The graph in Graphviz's language; a hyperedge is an edge from each of its premises, labelled
    /// with its clause. Facts have no edge.
    fn to_graphviz(&self) -> String {
        let mut out = String::from("digraph arg {\n  rankdir=TB;\n  node [shape=box];\n");
        let mut line = |text: String| writeln!(out, "  {text}").expect("a string takes all");
        let mut nodes: Vec<NodeId> = self.chains.iter().flatten().copied().collect();
        nodes.sort_unstable();
        let all = nodes.iter().map(|&n| (n, self.nodes[n].location));
        for (node, location) in all.chain([(self.nodes.len(), ERROR)]) {
            let (name, label) = match self.cutpoints.predicates[location] {
                Some(predicate) => {
                    let name = self.system.predicate(predicate).name.as_str();
                    (name, printed(&self.terms, self.nodes[node].label))
                }
                None => ("false", String::new()),
            };
            let text = quoted(&format!("{node}: {name}\n{label}"));
            line(format!("n{node} [label=\"{text}\"];"));
            for &clause in &self.defining[location] {
                let id = self.system.clauses[clause].id.0;
                for premise in self.premises(clause, node).into_iter().flatten() {
                    line(format!("n{premise} -> n{node} [label=\"{id}\"];"));
                }
            }
        }
        out.push_str("}\n");
        out
    }

    /// Statistics of the run.
    fn finish(&mut self) {
        let (queries, time) = self.smt.usage();
        let stats = &mut self.cx.stats;
        stats.add("vinta.phases", self.phases);
        stats.add("vinta.nodes", self.nodes.len() as u64);
        stats.add("vinta.refinements", u64::from(self.refinements));
        stats.add("vinta.unfolded", self.unfolded);
        stats.add("vinta.projections", self.projections);
        stats.add("vinta.paths", self.posts.paths);
        stats.add("vinta.queries", queries);
        stats.add_time("vinta.smt", time);
    }
}

/// What the labels of the premises say.
fn source<'n, E>(
    terms: &TermStore,
    nodes: &'n [Node<E>],
    premises: &[NodeId],
    seen: TermId,
) -> Source<'n, E> {
    let premise = |&n: &NodeId| Premise {
        element: &nodes[n].element,
        formula: terms.and(&nodes[n].lemmas),
    };
    Source {
        premises: premises.iter().map(premise).collect(),
        seen,
    }
}
