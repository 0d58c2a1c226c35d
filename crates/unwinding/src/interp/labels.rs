//! Solvers with the labels of nodes, and implications between labels.
//!
//! Invariant: in such a solver, a node's literal implies what was asserted of the node's label, and
//! the facts of the location are asserted; labels and facts only grow.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::node::NodeId;
use super::search::Search;
use alphorn_proof::Stop;
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::{Assignment, SortId, TermId, TermStore, evaluate};

/// A solver with labels under literals.
pub(super) struct Labelled {
    pub solver: Solver,
    /// By node: its literal, and how many conjuncts of its label are asserted.
    asserted: FxHashMap<NodeId, (TermId, usize)>,
    /// All literals, in the order in which they were made.
    literals: Vec<TermId>,
    /// How many facts are asserted.
    facts: usize,
}

impl Labelled {
    /// A solver without assertions.
    pub fn new(smt: &Rc<Smt>) -> Labelled {
        Labelled {
            solver: smt.solver(),
            asserted: FxHashMap::default(),
            literals: Vec::new(),
            facts: 0,
        }
    }

    /// Whether it has so many labels that a new solver is better for another node.
    pub fn has_no_room_for(&self, node: NodeId) -> bool {
        self.literals.len() >= LIMITS.labels_per_solver && !self.asserted.contains_key(&node)
    }

    /// Asserts the new conjuncts of the node's label and the new facts, which `placed` puts over
    /// the solver's variables. Returns the assumptions under which the label, and no other one, is
    /// in force: a solver that may also satisfy other labels needs much more time. A dead node's
    /// label may be shorter than what is asserted.
    pub fn assume_label(
        &mut self,
        terms: &TermStore,
        node: NodeId,
        label: &[TermId],
        facts: &[TermId],
        placed: impl Fn(&[TermId]) -> Vec<TermId>,
    ) -> Vec<TermId> {
        for fact in placed(&facts[self.facts..]) {
            self.solver.assert(fact);
        }
        self.facts = facts.len();
        let literals = &mut self.literals;
        let new = || {
            let literal = terms.fresh_var("label", SortId::BOOL);
            literals.push(literal);
            (literal, 0)
        };
        let (literal, asserted) = self.asserted.entry(node).or_insert_with(new);
        for conjunct in placed(label.get(*asserted..).unwrap_or_default()) {
            self.solver.assert(terms.implies(*literal, conjunct));
        }
        *asserted = label.len();
        let in_force = |&l: &TermId| if l == *literal { l } else { terms.not(l) };
        self.literals.iter().map(in_force).collect()
    }

    /// The assumptions under which no label is in force.
    pub fn none_in_force(&self, terms: &TermStore) -> Vec<TermId> {
        self.literals.iter().map(|&l| terms.not(l)).collect()
    }
}

impl Search<'_> {
    /// Whether the node's label implies all of the formulas, over formal variables. False if the
    /// solver does not know.
    pub(super) fn entails(&mut self, node: NodeId, formulas: &[TermId]) -> Result<bool, Stop> {
        let location = self.nodes[node].location;
        let label = self.nodes[node].label.clone();
        let facts = self.facts.of(location);
        let mut known: FxHashSet<TermId> = label.iter().chain(facts).copied().collect();
        if known.contains(&TermId::FALSE) {
            return Ok(true);
        }
        known.insert(TermId::TRUE);
        let open = formulas.iter().copied().filter(|f| !known.contains(f));
        let open: Vec<TermId> = open.collect();
        let terms = self.terms.clone();
        let is = |state: &Assignment, formula: TermId, value: TermId| {
            evaluate(&terms, formula, state) == Some(value)
        };
        let states = &mut self.nodes[node].states;
        states.retain(|s| !label.iter().any(|&l| is(s, l, TermId::FALSE)));
        let outside = |s: &Assignment| open.iter().any(|&f| is(s, f, TermId::FALSE));
        if states.iter().any(outside) {
            return Ok(false);
        }
        for formula in open {
            self.check_budget()?;
            let smt = &self.smt;
            let place = &mut self.implications[location];
            drop(place.take_if(|l| l.has_no_room_for(node)));
            let labelled = place.get_or_insert_with(|| Labelled::new(smt));
            let facts = self.facts.of(location);
            let mut assumed =
                labelled.assume_label(&terms, node, &label, facts, <[TermId]>::to_vec);
            assumed.push(terms.not(formula));
            match labelled.solver.check(&assumed) {
                SatResult::Unsat => {}
                SatResult::Unknown(_) => return Ok(false),
                SatResult::Sat => {
                    let model = labelled.solver.model();
                    let formals = self.formals(location);
                    if let Some(Ok(state)) = model.map(|m| m.assignment(formals)) {
                        let states = &mut self.nodes[node].states;
                        if states.len() == LIMITS.states_per_node {
                            states.remove(0);
                        }
                        states.push(state);
                    }
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
