//! Labels of nodes in solvers, and implications between them.
//!
//! Invariant: under a node's literal a solver holds what the node's label and the facts of its
//! location say; labels and facts only grow.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::node::NodeId;
use super::search::Search;
use crate::proof::Stop;
use crate::smt::{SatResult, Smt, Solver};
use crate::term::{Assignment, SortId, TermId, TermStore, evaluate};

/// States of one node that are kept to tell what its label does not imply.
const STATES: usize = 8;

/// A solver that has labels under literals.
pub(super) struct Labelled {
    pub solver: Solver,
    /// By node: so many conjuncts of its label are told.
    told: FxHashMap<NodeId, (TermId, usize)>,
    facts: usize,
}

impl Labelled {
    /// A solver that holds nothing yet.
    pub fn new(smt: &Rc<Smt>) -> Labelled {
        Labelled {
            solver: smt.solver(),
            told: FxHashMap::default(),
            facts: 0,
        }
    }

    /// The literal of the node's label, after what is new of it and of the facts was told, as
    /// `placed` has it. A dead node's label may be shorter than what is known of it.
    pub fn tell(
        &mut self,
        terms: &TermStore,
        node: NodeId,
        label: &[TermId],
        facts: &[TermId],
        placed: impl Fn(&[TermId]) -> Vec<TermId>,
    ) -> TermId {
        for fact in placed(&facts[self.facts..]) {
            self.solver.assert(fact);
        }
        self.facts = facts.len();
        let new = || (terms.fresh_var("label", SortId::BOOL), 0);
        let (literal, told) = self.told.entry(node).or_insert_with(new);
        for conjunct in placed(label.get(*told..).unwrap_or_default()) {
            self.solver.assert(terms.implies(*literal, conjunct));
        }
        *told = label.len();
        *literal
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
            let labelled = self.implications[location].get_or_insert_with(|| Labelled::new(smt));
            let facts = self.facts.of(location);
            let literal = labelled.tell(&terms, node, &label, facts, <[TermId]>::to_vec);
            match labelled.solver.check(&[literal, terms.not(formula)]) {
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
