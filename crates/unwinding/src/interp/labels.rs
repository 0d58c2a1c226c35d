//! Labels of nodes in solvers, and implications between them.
//!
//! Invariant: under a node's literal a solver holds what the node's label and the facts of its
//! location say; labels and facts only grow.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::node::NodeId;
use super::search::Search;
use alphorn_proof::Stop;
use alphorn_smt::{SatResult, Smt, Solver};
use alphorn_term::{Assignment, SortId, TermId, TermStore, evaluate};

/// Labels that a solver has, at most.
const NODES: usize = 256;

/// States of one node that are kept to tell what its label does not imply.
const STATES: usize = 8;

/// A solver that has labels under literals.
pub(super) struct Labelled {
    pub solver: Solver,
    /// By node: so many conjuncts of its label are told, under this literal.
    told: FxHashMap<NodeId, (TermId, usize)>,
    /// The literals in the order of telling.
    literals: Vec<TermId>,
    facts: usize,
}

impl Labelled {
    /// A solver that holds nothing yet.
    pub fn new(smt: &Rc<Smt>) -> Labelled {
        Labelled {
            solver: smt.solver(),
            told: FxHashMap::default(),
            literals: Vec::new(),
            facts: 0,
        }
    }

    /// Whether it has so many labels that for another one a new solver is better.
    pub fn has_no_room_for(&self, node: NodeId) -> bool {
        self.literals.len() >= NODES && !self.told.contains_key(&node)
    }

    /// What is to be assumed for the node's label, after what is new of it and of the facts was
    /// told, as `placed` has it. Other labels are assumed not to be in force: a solver would look for
    /// states that they have, too, and take a multiple of the time. A dead node's label may be shorter
    /// than what is known of it.
    pub fn tell(
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
        let (literal, told) = self.told.entry(node).or_insert_with(new);
        for conjunct in placed(label.get(*told..).unwrap_or_default()) {
            self.solver.assert(terms.implies(*literal, conjunct));
        }
        *told = label.len();
        let in_force = |&l: &TermId| if l == *literal { l } else { terms.not(l) };
        self.literals.iter().map(in_force).collect()
    }

    /// What is to be assumed for no label.
    pub fn none_in_force(&self, terms: &TermStore) -> Vec<TermId> {
        self.literals.iter().map(|&l| terms.not(l)).collect()
    }
}

impl Search<'_> {
    /// Whether the node's label implies all of the formulas, over formal variables. What is open
    /// counts as not implied.
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
            self.go_on()?;
            let smt = &self.smt;
            let place = &mut self.implications[location];
            drop(place.take_if(|l| l.has_no_room_for(node)));
            let labelled = place.get_or_insert_with(|| Labelled::new(smt));
            let facts = self.facts.of(location);
            let mut assumed = labelled.tell(&terms, node, &label, facts, <[TermId]>::to_vec);
            assumed.push(terms.not(formula));
            match labelled.solver.check(&assumed) {
                SatResult::Unsat => {}
                SatResult::Unknown(_) => return Ok(false),
                SatResult::Sat => {
                    let model = labelled.solver.model();
                    let formals = self.formals(location);
                    if let Some(Ok(state)) = model.map(|m| m.assignment(formals)) {
                        let states = &mut self.nodes[node].states;
                        if states.len() == STATES {
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
