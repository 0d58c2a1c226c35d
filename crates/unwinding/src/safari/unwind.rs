//! The labelled unwinding: a tree of nodes from the error backwards (UNWIND, EXPAND).
//!
//! A node stands for the states `∃ indexes. label` of a location from which its path leads to the
//! error. Each node except the root has the transition into its successor, as an instance with its
//! own variables; so an index variable means the same in all labels along a path, and the formulas
//! that refinements add to a label are under one quantifier.
//!
//! With `labels=indexed` a node's step is one cube, as in MCMT, whose nodes are primitive
//! differentiated formulas (Ghilardi and Ranise, LMCS 2010): a leaf that is not covered is replaced
//! by a node for each case of its step. So a label is a conjunction, and cases are covered
//! separately.
//!
//! Invariant: the instance into a node's successor and the successor's label imply the node's label
//! (slides, condition (iii)). A model consists of the labels of expanded nodes.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cover::{Cover, LabelInstance};
use super::interpolate::Template;
use super::limits::LIMITS;
use super::model::unreachable;
use super::transition::{Instance, State, Transition, consistencies, instantiate};
use super::{Labels, Options};
use alphorn_chc::{PredicateId, Reachability, System};
use alphorn_interpolation::Interpolator;
use alphorn_proof::Stop;
use alphorn_smt::Smt;
use alphorn_term::run::Context;
use alphorn_term::{Printer, TermId, TermStore};
use alphorn_witness::{Model, Verdict};

/// The index of a node in [`Unwinding::nodes`].
pub(super) type NodeId = usize;

/// A location of the control flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Location {
    /// Before an entry clause: the slides' `l_I`.
    Initial,
    /// At a predicate.
    At(PredicateId),
    /// After a query: the slides' `l_E`.
    Error,
}

/// The status of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Status {
    /// Not checked yet, or not since a node that covered it changed.
    Leaf,
    /// It has a child for each transition into its location.
    Expanded,
    /// Its pre-image is contained in the labels of these nodes.
    Covered(Vec<NodeId>),
    /// Its pre-image is empty, it was split, or it is below a node that is covered or dead.
    Dead,
}
/// A node of the unwinding.
pub(super) struct Node {
    pub location: Location,
    pub depth: usize,
    pub successor: Option<NodeId>,
    pub children: Vec<NodeId>,
    pub status: Status,
    /// Whether its step is one cube, or is not split since it has too many.
    pub is_case: bool,
    /// The index of the transition into the successor.
    pub transition: usize,
    /// That transition's instance, with the state of this node as source.
    pub instance: Instance,
    /// From the state's arguments and cells to the terms over formal variables that they stand for.
    pub meaning: FxHashMap<TermId, TermId>,
    /// The instance's formula over formal variables.
    pub step: TermId,
    /// Instances of the axiom that elements at equal indexes are equal, over the state's cells.
    pub axioms: Vec<TermId>,
    /// Conjuncts over the state's own variables.
    pub label: Vec<TermId>,
    /// Their conjunction over formal variables and index variables.
    pub formula: TermId,
    /// The index variables of the label.
    pub indexes: Vec<TermId>,
    /// The formula's conjuncts, each with the indexes in `indexes` of its index variables.
    pub parts: Vec<(TermId, Vec<usize>)>,
    /// Instances of other labels that were made to check whether these cover it.
    pub label_instances: Vec<LabelInstance>,
}
/// The state of a run.
pub(super) struct Unwinding<'a> {
    pub system: &'a System,
    pub terms: Rc<TermStore>,
    pub smt: Rc<Smt>,
    pub options: &'a Options,
    pub transitions: Vec<Transition>,
    /// By head: its transitions.
    into: FxHashMap<Option<PredicateId>, Vec<usize>>,
    pub nodes: Vec<Node>,
    /// Leaves: those at the initial location first, then by depth.
    open: BTreeSet<(bool, usize, NodeId)>,
    /// Expanded nodes by location.
    pub expanded: FxHashMap<PredicateId, Vec<NodeId>>,
    /// For each node, the nodes that it covers or covered.
    covering: FxHashMap<NodeId, FxHashSet<NodeId>>,
    pub template: Template,
    pub interpolator: Interpolator,
    pub counters: Counters,
}
/// Counters for statistics.
#[derive(Default)]
pub(super) struct Counters {
    pub covered: u64,
    pub refinements: u64,
    pub instances: u64,
    pub axioms: u64,
    pub abstracted: u64,
    pub by_comparisons: u64,
    pub by_interpolants: u64,
}

impl<'a> Unwinding<'a> {
    /// An unwinding without nodes.
    pub fn new(
        system: &'a System,
        reachability: &Reachability,
        options: &'a Options,
        smt: &Rc<Smt>,
        interpolator: Interpolator,
    ) -> Result<Self, Stop> {
        let mut transitions = Vec::new();
        let mut into: FxHashMap<Option<PredicateId>, Vec<usize>> = FxHashMap::default();
        for &clause in reachability.clauses() {
            for transition in Transition::of(system, clause)? {
                let head = transition.case.head.as_ref().map(|h| h.predicate);
                into.entry(head).or_default().push(transitions.len());
                transitions.push(transition);
            }
        }
        let template = Template::new(system, &transitions);
        Ok(Unwinding {
            system,
            terms: system.terms.clone(),
            smt: smt.clone(),
            options,
            transitions,
            into,
            nodes: Vec::new(),
            open: BTreeSet::new(),
            expanded: FxHashMap::default(),
            covering: FxHashMap::default(),
            template,
            interpolator,
            counters: Counters::default(),
        })
    }

    /// UNWIND: continues until no leaf is left, or a path is feasible.
    pub fn run(&mut self, cx: &mut Context) -> Result<Verdict, Stop> {
        self.root();
        self.expand(0, cx)?;
        let mut is_smallest = false;
        loop {
            let Some((_, _, node)) = self.open.pop_first() else {
                if std::mem::replace(&mut is_smallest, true) {
                    return Ok(Verdict::Sat(self.model(cx)?));
                }
                self.minimise(cx)?;
                continue;
            };
            if let Some(reason) = cx.stop() {
                return Err(Stop::Reason(reason));
            }
            if self.nodes[node].status != Status::Leaf {
                continue;
            }
            match self.cover(node, cx)? {
                Cover::Empty => self.mark_dead(node),
                Cover::By(set) => self.set_covered(node, set),
                Cover::Open if self.nodes[node].location == Location::Initial => {
                    if let Some(refutation) = self.refine(node, cx)? {
                        return Ok(Verdict::Unsat(refutation));
                    }
                }
                Cover::Open if self.options.labels == Labels::Indexed => {
                    self.develop(node, cx)?;
                }
                Cover::Open => self.expand(node, cx)?,
            }
        }
    }

    /// Replaces a leaf that is not covered by its cases; or gives it its label and expands it.
    fn develop(&mut self, node: NodeId, cx: &Context) -> Result<(), Stop> {
        if !self.nodes[node].is_case {
            self.nodes[node].is_case = true;
            if let Some(cases) = self.cases(node, cx)? {
                self.split(node, &cases);
                return Ok(());
            }
        }
        if self.nodes[node].label.is_empty() {
            self.label_by_predicates(node, cx)?;
        }
        let print = || Printer::new(&self.terms).term(self.nodes[node].formula);
        log::trace!("safari: node {node}: {}", print());
        self.expand(node, cx)
    }

    /// Adds the root, at the error.
    fn root(&mut self) {
        let state = State::default();
        let instance = Instance {
            formula: TermId::TRUE,
            source: state,
            renaming: FxHashMap::default(),
            chosen: FxHashMap::default(),
        };
        self.nodes.push(Node {
            location: Location::Error,
            depth: 0,
            successor: None,
            children: Vec::new(),
            status: Status::Leaf,
            is_case: false,
            transition: usize::MAX,
            instance,
            meaning: FxHashMap::default(),
            step: TermId::TRUE,
            axioms: Vec::new(),
            label: Vec::new(),
            formula: TermId::TRUE,
            indexes: Vec::new(),
            parts: Vec::new(),
            label_instances: Vec::new(),
        });
    }

    /// EXPAND: a child for each transition into the node's location.
    fn expand(&mut self, node: NodeId, cx: &Context) -> Result<(), Stop> {
        let head = match self.nodes[node].location {
            Location::At(predicate) => {
                self.expanded.entry(predicate).or_default().push(node);
                Some(predicate)
            }
            _ => None,
        };
        self.nodes[node].status = Status::Expanded;
        for transition in self.into.get(&head).cloned().unwrap_or_default() {
            let child = self.child(node, transition)?;
            if self.options.labels == Labels::Exact {
                self.label_exactly(child, cx)?;
            }
            self.reopen(child);
        }
        Ok(())
    }

    /// Adds the child of the node by the transition.
    fn child(&mut self, node: NodeId, transition: usize) -> Result<NodeId, Stop> {
        let terms = self.terms.clone();
        let step = &self.transitions[transition];
        let location = step.source().map_or(Location::Initial, Location::At);
        let instance = instantiate(&terms, step, &self.nodes[node].instance.source)?;
        let state = &instance.source;
        let mut meaning: FxHashMap<TermId, TermId> = FxHashMap::default();
        if let Location::At(predicate) = location {
            let params = &self.system.predicate(predicate).params;
            meaning.extend(state.args.iter().copied().zip(params.iter().copied()));
            for cell in &state.cells {
                let index = *meaning.get(&cell.index).unwrap_or(&cell.index);
                meaning.insert(cell.var, terms.select(params[cell.argument], index));
            }
        }
        let axioms = consistencies(&terms, &state.cells, LIMITS.axioms);
        let step = terms.substitute(instance.formula, &meaning);
        Ok(self.add(Node {
            location,
            depth: self.nodes[node].depth + 1,
            successor: Some(node),
            children: Vec::new(),
            status: Status::Leaf,
            is_case: false,
            transition,
            instance,
            meaning,
            step,
            axioms,
            label: Vec::new(),
            formula: TermId::TRUE,
            indexes: Vec::new(),
            parts: Vec::new(),
            label_instances: Vec::new(),
        }))
    }

    /// Replaces a node by one for each case of its step. The state of a case has only the cells
    /// that the case reads.
    fn split(&mut self, node: NodeId, cases: &[TermId]) {
        let terms = self.terms.clone();
        self.mark_dead(node);
        for &case in cases {
            let old = &self.nodes[node];
            let read: FxHashSet<TermId> = terms.free_vars(&[case]).into_iter().collect();
            let mut source = old.instance.source.clone();
            source.cells.retain(|cell| read.contains(&cell.var));
            let case = Node {
                location: old.location,
                depth: old.depth,
                successor: old.successor,
                children: Vec::new(),
                status: Status::Leaf,
                is_case: true,
                transition: old.transition,
                meaning: old.meaning.clone(),
                step: terms.substitute(case, &old.meaning),
                axioms: consistencies(&terms, &source.cells, LIMITS.axioms),
                label: Vec::new(),
                formula: TermId::TRUE,
                indexes: Vec::new(),
                parts: Vec::new(),
                label_instances: old.label_instances.clone(),
                instance: Instance {
                    formula: case,
                    source,
                    renaming: old.instance.renaming.clone(),
                    chosen: old.instance.chosen.clone(),
                },
            };
            let id = self.add(case);
            self.reopen(id);
        }
        if let Some(successor) = self.nodes[node].successor {
            self.nodes[successor]
                .children
                .retain(|&child| child != node);
        }
    }

    /// Adds a node as a child of its successor.
    fn add(&mut self, node: Node) -> NodeId {
        let id = self.nodes.len();
        if let Some(successor) = node.successor {
            self.nodes[successor].children.push(id);
        }
        self.nodes.push(node);
        id
    }

    /// Conjoins a formula over the node's own variables to its label.
    pub fn strengthen(&mut self, node: NodeId, conjunct: TermId) {
        let terms = self.terms.clone();
        let node = &mut self.nodes[node];
        node.label.push(conjunct);
        let label = terms.and(&node.label);
        node.formula = terms.substitute(label, &node.meaning);
        let own = match node.location {
            Location::At(predicate) => &*self.system.predicate(predicate).params,
            _ => &[],
        };
        node.indexes = terms.free_vars(&[node.formula]);
        node.indexes.retain(|v| !own.contains(v));
        let positions = |part: TermId| -> Vec<usize> {
            let free = terms.free_vars(&[part]);
            let about = |&at: &usize| free.contains(&node.indexes[at]);
            (0..node.indexes.len()).filter(about).collect()
        };
        let parts = terms.conjuncts(node.formula).into_iter();
        node.parts = parts.map(|part| (part, positions(part))).collect();
    }

    /// Makes a node a leaf, which is to be checked.
    pub fn reopen(&mut self, node: NodeId) {
        let is_inner = self.nodes[node].location != Location::Initial;
        self.open.insert((is_inner, self.nodes[node].depth, node));
        self.nodes[node].status = Status::Leaf;
    }

    /// Reopens the nodes that these cover.
    pub fn reopen_covered(&mut self, changed: &[NodeId]) {
        for node in changed {
            let mut covered: Vec<NodeId> =
                self.covering.remove(node).into_iter().flatten().collect();
            covered.sort_unstable();
            for covered in covered {
                if matches!(&self.nodes[covered].status, Status::Covered(set) if set.contains(node))
                {
                    self.reopen(covered);
                }
            }
        }
    }

    /// The node and all nodes below it.
    pub fn subtree(&self, node: NodeId) -> FxHashSet<NodeId> {
        let mut found = FxHashSet::default();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            found.insert(node);
            open.extend(&self.nodes[node].children);
        }
        found
    }

    /// Marks a node and all nodes below it as dead.
    pub fn mark_dead(&mut self, node: NodeId) {
        let mut below: Vec<NodeId> = self.subtree(node).into_iter().collect();
        below.sort_unstable();
        for &node in &below {
            if self.nodes[node].status == Status::Expanded
                && let Location::At(predicate) = self.nodes[node].location
            {
                let expanded = self.expanded.entry(predicate).or_default();
                expanded.retain(|&other| other != node);
            }
            self.nodes[node].status = Status::Dead;
        }
        self.reopen_covered(&below);
    }

    /// Marks the node as covered by the set.
    pub fn set_covered(&mut self, node: NodeId, set: Vec<NodeId>) {
        self.mark_dead(node);
        self.nodes[node].children.clear();
        for &other in &set {
            self.covering.entry(other).or_default().insert(node);
        }
        self.nodes[node].status = Status::Covered(set);
        self.counters.covered += 1;
    }

    /// The path of a node to the error, without the root.
    pub fn path(&self, node: NodeId) -> Vec<NodeId> {
        let mut path = Vec::new();
        let mut at = Some(node);
        while let Some(node) = at.filter(|&n| n != 0) {
            path.push(node);
            at = self.nodes[node].successor;
        }
        path
    }

    /// Checks again whether these expanded nodes are covered, in this order.
    pub fn check_again(&mut self, nodes: &[NodeId], cx: &mut Context) -> Result<(), Stop> {
        for &node in nodes {
            if self.nodes[node].status != Status::Expanded || node == 0 {
                continue;
            }
            match self.cover(node, cx)? {
                Cover::Empty => self.mark_dead(node),
                Cover::By(set) => self.set_covered(node, set),
                Cover::Open => {}
            }
        }
        Ok(())
    }

    /// Removes expanded nodes that others cover, those with the most indexes first, so that the
    /// model has fewer quantifiers. The nodes that they covered are reopened.
    fn minimise(&mut self, cx: &mut Context) -> Result<(), Stop> {
        let mut nodes: Vec<NodeId> = self.expanded.values().flatten().copied().collect();
        nodes.sort_unstable_by_key(|&n| {
            let node = &self.nodes[n];
            (std::cmp::Reverse((node.indexes.len(), node.depth)), n)
        });
        self.check_again(&nodes, cx)
    }

    /// The complement of the labels: `∧ ∀ indexes. ¬label` over the expanded nodes.
    fn model(&self, cx: &Context) -> Result<Model, Stop> {
        let mut model = Model::default();
        for (&predicate, nodes) in &self.expanded {
            let mut parts = Vec::new();
            for &node in nodes {
                if self.is_below(node, nodes, cx)? {
                    continue;
                }
                let node = &self.nodes[node];
                parts.extend(unreachable(&self.smt, node.formula, &node.indexes, cx)?);
            }
            model.definitions.insert(predicate, self.terms.and(&parts));
        }
        Ok(model)
    }

    /// Whether a node's label is contained in the labels of those others that are below the node.
    /// Covering excludes these, since they would not exist without the node.
    fn is_below(&self, node: NodeId, others: &[NodeId], cx: &Context) -> Result<bool, Stop> {
        let mut below = self.subtree(node);
        below.remove(&node);
        let others: Vec<NodeId> = others
            .iter()
            .copied()
            .filter(|w| below.contains(w))
            .collect();
        if others.is_empty() {
            return Ok(false);
        }
        let label = [self.nodes[node].formula];
        let result = self.within(node, &label, &others, &mut Vec::new(), cx)?;
        Ok(!matches!(result, Cover::Open))
    }
}
