//! Removes arguments that nothing reads.
//!
//! An argument is read if a clause that uses the predicate needs its value, in its constraint or to
//! compute another argument that is read. A conjunct only computes a variable if some value of the
//! variable satisfies it whatever the values of its other variables are: `y' = y + 1`, `y' > y`. If
//! nothing reads the variable, the conjunct is dropped together with the arguments.
//!
//! The pass waits for the iterated passes. An argument that is sliced before its predicate is
//! inlined becomes a local variable of the clauses, and then the inlined predicate may have no
//! small definition when a model is translated back.
//!
//! Invariant: for all values of the dropped arguments, the recorded definitions satisfy the dropped
//! conjuncts. So every derivation of the new system is a derivation of the old one with these
//! values recomputed bottom-up.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::replacement::{Origin, Replacement, marked};
use super::unconstrained::{Unconstrained, unconstrained};
use super::{Place, Step, Transformation, body_places};
use alphorn_chc::{Atom, Clause, ClauseIndex, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{TermId, TermStore};

/// The pass.
pub struct Slice;

impl Transformation for Slice {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = &old.terms;
        let mut flows = Vec::with_capacity(old.clauses.len());
        for clause in &old.clauses {
            if cx.stop().is_some() {
                return None;
            }
            flows.push(Flow::of(terms, clause));
        }
        let read = read_arguments(old, &mut flows);
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        let mut kept: FxHashMap<PredicateId, Vec<bool>> = FxHashMap::default();
        for predicate in old.used_predicates() {
            let arity = old.predicate(predicate).arity();
            let marks: Vec<bool> = (0..arity).map(|i| read.contains(&(predicate, i))).collect();
            if marks.contains(&false) {
                replacement.keep_arguments(&mut system, predicate, &marks);
                kept.insert(predicate, marks);
            }
        }
        if replacement.is_empty() {
            return None;
        }
        for (clause, flow) in system.clauses.iter_mut().zip(flows) {
            let keep = |atom: &Atom| marked(&atom.args, &kept[&atom.predicate]).collect();
            if replacement.replace_atoms(clause, keep) {
                clause.constraint = flow.needed_constraint(terms);
                let origin = Origin::new(clause.id, flow.dropped_definitions());
                replacement.note(clause.id, origin);
            }
        }
        Some(replacement.step(system))
    }
}

/// The data flow of one clause.
struct Flow {
    conjuncts: Vec<TermId>,
    vars: Vec<Vec<TermId>>,
    needed: Vec<bool>,
    /// Conjuncts that only compute a variable; each after those that read the variable that it
    /// computes.
    computing: Vec<Unconstrained>,
    /// For each computed variable, the conjunct that computes it.
    computed_by: FxHashMap<TermId, usize>,
    /// The positions of the body's variables.
    body: FxHashMap<TermId, Place>,
    reached: FxHashSet<TermId>,
}

impl Flow {
    fn of(terms: &TermStore, clause: &Clause) -> Flow {
        let conjuncts = terms.conjuncts(clause.constraint);
        let vars: Vec<Vec<TermId>> = conjuncts.iter().map(|&c| terms.free_vars(&[c])).collect();
        let body = body_places(clause);
        let computing = unconstrained(terms, &conjuncts, &vars, |v| body.contains_key(&v));
        let mut needed = vec![true; conjuncts.len()];
        let mut computed_by = FxHashMap::default();
        for found in &computing {
            needed[found.conjunct] = false;
            computed_by.insert(found.var, found.conjunct);
        }
        Flow {
            needed,
            conjuncts,
            vars,
            computing,
            computed_by,
            body,
            reached: FxHashSet::default(),
        }
    }

    /// The body arguments that become read when these variables are read.
    fn reach(&mut self, vars: Vec<TermId>) -> Vec<Place> {
        let mut read = Vec::new();
        let mut stack = vars;
        while let Some(var) = stack.pop() {
            if !self.reached.insert(var) {
                continue;
            }
            if let Some(&place) = self.body.get(&var) {
                read.push(place);
            }
            if let Some(&at) = self.computed_by.get(&var)
                && !self.needed[at]
            {
                self.needed[at] = true;
                stack.extend_from_slice(&self.vars[at]);
            }
        }
        read
    }

    fn needed_constraint(&self, terms: &TermStore) -> TermId {
        let needed: Vec<TermId> = self
            .conjuncts
            .iter()
            .zip(&self.needed)
            .filter(|(_, needed)| **needed)
            .map(|(&c, _)| c)
            .collect();
        terms.and(&needed)
    }

    /// Definitions of the variables that are not needed, in the order of evaluation.
    fn dropped_definitions(&self) -> Vec<(TermId, TermId)> {
        let dropped = self.computing.iter().rev();
        dropped
            .filter(|found| !self.needed[found.conjunct])
            .map(|found| (found.var, found.value))
            .collect()
    }
}

/// The arguments that are read, by a worklist that starts with those that constraints need.
fn read_arguments(system: &System, flows: &mut [Flow]) -> FxHashSet<Place> {
    let index = ClauseIndex::new(system);
    let mut read = FxHashSet::default();
    let mut queue: Vec<Place> = Vec::new();
    for flow in flows.iter_mut() {
        let roots: Vec<TermId> = (0..flow.conjuncts.len())
            .filter(|&at| flow.needed[at])
            .flat_map(|at| flow.vars[at].iter().copied())
            .collect();
        queue.extend(flow.reach(roots));
    }
    while let Some((predicate, position)) = queue.pop() {
        if !read.insert((predicate, position)) {
            continue;
        }
        for &at in index.deriving(predicate) {
            let head = system.clauses[at].head.as_ref();
            if let Some(&arg) = head.and_then(|h| h.args.get(position)) {
                queue.extend(flows[at].reach(vec![arg]));
            }
        }
    }
    read
}
