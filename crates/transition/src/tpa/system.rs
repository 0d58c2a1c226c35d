//! The transition system: three copies of the state, and the clauses over them.
//!
//! Invariant: each instance of a clause has its own local variables.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use alphorn_chc::{PredicateId, System};
use alphorn_proof::steps::{Instance, Steps};
use alphorn_term::{TermId, TermStore};

/// The number of copies of the state: before a run, after it, and after a second one.
pub(super) const COPIES: usize = 3;

/// Literals over the first copy of the state. Those of the facts and the queries may contain local
/// variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct States {
    /// The literals.
    pub literals: Rc<[TermId]>,
    /// Their conjunction, which identifies the set.
    pub formula: TermId,
}

impl States {
    /// The states that satisfy a formula.
    pub fn new(terms: &TermStore, formula: TermId) -> States {
        States {
            literals: terms.conjuncts(formula).into(),
            formula,
        }
    }
}

/// A system with one predicate as a transition system.
pub(super) struct TransitionSystem<'a> {
    /// The clauses.
    pub system: &'a System,
    /// Their steps.
    pub steps: &'a Steps,
    /// The predicate.
    pub predicate: PredicateId,
    /// The variables of each copy of the state.
    pub copies: [Vec<TermId>; COPIES],
    /// The facts.
    pub init: States,
    /// The states to which a query applies.
    pub query: States,
}

impl<'a> TransitionSystem<'a> {
    /// The transition system of the only predicate of a system.
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

    /// The store of the system's terms.
    pub fn terms(&self) -> &'a TermStore {
        &self.system.terms
    }

    /// Instances of steps with these arguments.
    fn instances(&self, steps: &[usize], arguments: &[TermId]) -> Vec<Instance> {
        let instance = |&step: &usize| {
            let arguments = arguments.iter().copied();
            self.steps
                .instantiate(self.terms(), step, TermId::TRUE, arguments)
        };
        steps.iter().map(instance).collect()
    }

    /// The entry clauses over a state.
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

    /// The formula that two states are equal.
    pub fn same(&self, from: &[TermId], to: &[TermId]) -> TermId {
        let terms = self.terms();
        let pairs = from.iter().zip(to);
        let equations: Vec<TermId> = pairs.map(|(&a, &b)| terms.eq(a, b)).collect();
        terms.and(&equations)
    }

    /// A formula over the variables `from`, over the variables `to`.
    pub fn over(&self, formula: TermId, from: &[TermId], to: &[TermId]) -> TermId {
        let map: FxHashMap<TermId, TermId> = from.iter().copied().zip(to.iter().copied()).collect();
        self.terms().substitute(formula, &map)
    }

    /// The literals of states over the variables `to`.
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

    /// A relation between the first two copies, together with the same for the other pairs.
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

    /// One step as a relation.
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

/// The formula that one of the instances applies.
pub(super) fn any(terms: &TermStore, instances: &[Instance]) -> TermId {
    let formulas: Vec<TermId> = instances.iter().map(|i| i.formula).collect();
    terms.or(&formulas)
}
