//! One transition system: states before, between and after two runs, and the clauses over them.
//!
//! Invariant: formulas that are kept are over the states before (and after) a run; each instance of
//! clauses has locals of its own.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use alphorn_chc::{PredicateId, System};
use alphorn_proof::steps::{Instance, Steps};
use alphorn_term::{TermId, TermStore};

/// Copies of the state: before a run, after it (or between two), after the second.
pub(super) const COPIES: usize = 3;

/// Literals over the first copy of the state. Locals may be among the variables of the facts and
/// the queries only.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct States {
    pub literals: Rc<[TermId]>,
    /// Their conjunction, for its identity.
    pub formula: TermId,
}

impl States {
    pub fn new(terms: &TermStore, formula: TermId) -> States {
        States {
            literals: terms.conjuncts(formula).into(),
            formula,
        }
    }
}

/// See the module.
pub(super) struct TransitionSystem<'a> {
    pub system: &'a System,
    pub steps: &'a Steps,
    pub predicate: PredicateId,
    pub copies: [Vec<TermId>; COPIES],
    /// Facts and queries over the first copy.
    pub init: States,
    pub query: States,
}

impl<'a> TransitionSystem<'a> {
    /// Of a system with one predicate.
    pub fn new(system: &'a System, steps: &'a Steps, predicate: PredicateId) -> Self {
        let copies = [0; COPIES].map(|_| system.fresh_atom(predicate).args);
        let mut ts = TransitionSystem {
            system,
            steps,
            predicate,
            copies,
            init: States::new(&system.terms, TermId::FALSE),
            query: States::new(&system.terms, TermId::FALSE),
        };
        ts.init = States::new(ts.terms(), any(ts.terms(), &ts.entries(&ts.copies[0])));
        ts.query = States::new(ts.terms(), any(ts.terms(), &ts.queries(&ts.copies[0])));
        ts
    }

    pub fn terms(&self) -> &'a TermStore {
        &self.system.terms
    }

    fn instances(&self, steps: &[usize], arguments: &[TermId]) -> Vec<Instance> {
        let instance = |&step: &usize| {
            let arguments = arguments.iter().copied();
            self.steps
                .instantiate(self.terms(), step, TermId::TRUE, arguments)
        };
        steps.iter().map(instance).collect()
    }

    /// The clauses of facts over a state, with locals of their own.
    pub fn entries(&self, state: &[TermId]) -> Vec<Instance> {
        self.instances(&self.steps.entries, state)
    }

    /// The queries over a state.
    pub fn queries(&self, state: &[TermId]) -> Vec<Instance> {
        self.instances(self.steps.queries(self.predicate), state)
    }

    /// The clauses from one state to the next.
    pub fn transitions(&self, from: &[TermId], to: &[TermId]) -> Vec<Instance> {
        let arguments = [from, to].concat();
        self.instances(self.steps.from(self.predicate), &arguments)
    }

    /// The states are the same.
    pub fn same(&self, from: &[TermId], to: &[TermId]) -> TermId {
        let terms = self.terms();
        let pairs = from.iter().zip(to);
        let equations: Vec<TermId> = pairs.map(|(&a, &b)| terms.eq(a, b)).collect();
        terms.and(&equations)
    }

    /// A formula over the variables of one state, over those of another.
    pub fn over(&self, formula: TermId, from: &[TermId], to: &[TermId]) -> TermId {
        let map: FxHashMap<TermId, TermId> = from.iter().copied().zip(to.iter().copied()).collect();
        self.terms().substitute(formula, &map)
    }

    /// Literals of states, over other variables.
    pub fn literals(&self, states: &States, to: &[TermId]) -> Vec<TermId> {
        if *to == *self.copies[0] {
            return states.literals.to_vec();
        }
        let map: FxHashMap<TermId, TermId> = self.copies[0]
            .iter()
            .copied()
            .zip(to.iter().copied())
            .collect();
        let literals = states.literals.iter();
        literals
            .map(|&l| self.terms().substitute(l, &map))
            .collect()
    }

    /// A relation between the first two copies, and the same from the second to the third and from
    /// the first to the third.
    pub fn conjunct(&self, relation: TermId) -> Conjunct {
        let [first, second, third] = &self.copies;
        let after = self.over(relation, second, third);
        let from = [&first[..], second].concat();
        let to = [&second[..], third].concat();
        Conjunct {
            left: relation,
            right: self.over(relation, &from, &to),
            whole: after,
        }
    }

    /// One step as a relation; each copy has locals of its own.
    pub fn step(&self) -> Conjunct {
        let [first, second, third] = &self.copies;
        let over = |from, to| any(self.terms(), &self.transitions(from, to));
        Conjunct {
            left: over(first, second),
            right: over(second, third),
            whole: over(first, third),
        }
    }
}

/// A conjunct of a relation over each pair of copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Conjunct {
    /// First to second copy.
    pub left: TermId,
    /// Second to third copy.
    pub right: TermId,
    /// First to third copy.
    pub whole: TermId,
}

/// One of the clauses is applied.
pub(super) fn any(terms: &TermStore, instances: &[Instance]) -> TermId {
    let formulas: Vec<TermId> = instances.iter().map(|i| i.formula).collect();
    terms.or(&formulas)
}
