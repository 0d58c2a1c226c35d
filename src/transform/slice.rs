//! Drops arguments that nothing reads.
//!
//! An argument is read if some clause that uses the predicate needs its value: for a constraint, or
//! to compute another argument that is read. A conjunct that only computes something (it can be
//! satisfied by the value of one variable whatever the others are, as `y' = y + 1` or `y' > y`) and
//! whose variable nothing reads needs nothing; it goes together with the arguments.
//!
//! Invariant: whatever the values of the dropped arguments are, the conjuncts dropped can be
//! satisfied by the definitions recorded for them, so every derivation of the new system is one of
//! the old with these values recomputed bottom-up.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::arguments::{Kept, keep_arguments};
use super::replay::{OldStep, replay};
use super::solve;
use super::{BackError, BackTranslation, Step, TransformError, Transformation, complete_model};
use crate::chc::{Clause, ClauseId, PredicateId, System};
use crate::run::Context;
use crate::term::{TermId, TermStore};
use crate::witness::{Model, Refutation};

/// The pass.
pub struct Slice;

impl Transformation for Slice {
    fn name(&self) -> &'static str {
        "slice"
    }

    fn apply(&self, system: System, cx: &mut Context) -> Result<Step, TransformError> {
        let terms = system.terms.clone();
        let mut flows = Vec::with_capacity(system.clauses.len());
        for clause in &system.clauses {
            if let Some(reason) = cx.stop() {
                return Err(TransformError {
                    pass: "slice",
                    message: reason.to_string(),
                });
            }
            flows.push(Flow::of(&terms, clause));
        }
        let read = read_arguments(&system, &mut flows);
        let keep: Vec<(PredicateId, Vec<bool>)> = system
            .used_predicates()
            .into_iter()
            .filter_map(|p| {
                let marks: Vec<bool> = (0..system.predicate(p).arity())
                    .map(|i| read.contains(&(p, i)))
                    .collect();
                marks.contains(&false).then_some((p, marks))
            })
            .collect();
        let old = Rc::new(system);
        let mut system = (*old).clone();
        let mut definitions = FxHashMap::default();
        if !keep.is_empty() {
            for (clause, flow) in system.clauses.iter_mut().zip(flows) {
                let touched = clause
                    .atoms()
                    .any(|a| keep.binary_search_by_key(&a.predicate, |k| k.0).is_ok());
                if touched {
                    clause.constraint = flow.needed_constraint(&terms);
                    definitions.insert(clause.id, flow.dropped_definitions());
                }
            }
        }
        let kept = keep_arguments(&mut system, &keep);
        Ok(Step {
            system,
            back: Box::new(Back {
                old,
                kept,
                definitions,
            }),
            changed: !keep.is_empty(),
        })
    }
}

/// How values flow in one clause.
struct Flow {
    conjuncts: Vec<TermId>,
    vars: Vec<Vec<TermId>>,
    needed: Vec<bool>,
    /// In the order of peeling: conjunct, the variable it computes, the term that computes it.
    /// The variable occurs in no conjunct peeled later and in none that was not peeled.
    peeled: Vec<(usize, TermId, TermId)>,
    /// For each variable that a peeled conjunct computes, that conjunct.
    computed_by: FxHashMap<TermId, usize>,
    /// Position of body arguments.
    body: FxHashMap<TermId, (PredicateId, usize)>,
    reached: FxHashSet<TermId>,
}

impl Flow {
    fn of(terms: &TermStore, clause: &Clause) -> Flow {
        let conjuncts = terms.conjuncts(clause.constraint);
        let vars: Vec<Vec<TermId>> = conjuncts.iter().map(|&c| terms.free_vars(&[c])).collect();
        let mut body = FxHashMap::default();
        for atom in &clause.body {
            for (i, &arg) in atom.args.iter().enumerate() {
                body.insert(arg, (atom.predicate, i));
            }
        }
        // Peel conjuncts that compute a variable of no other conjunct.
        let mut places: FxHashMap<TermId, Vec<usize>> = FxHashMap::default();
        for (at, vars) in vars.iter().enumerate() {
            for &var in vars {
                places.entry(var).or_default().push(at);
            }
        }
        let mut open: FxHashMap<TermId, usize> =
            places.iter().map(|(v, at)| (*v, at.len())).collect();
        let mut alive = vec![true; conjuncts.len()];
        let mut queue: Vec<TermId> = open
            .iter()
            .filter(|(v, n)| **n == 1 && !body.contains_key(v))
            .map(|(v, _)| *v)
            .collect();
        queue.sort_unstable();
        let mut peeled = Vec::new();
        let mut computed_by = FxHashMap::default();
        while let Some(var) = queue.pop() {
            let Some(at) = places[&var].iter().copied().find(|&at| alive[at]) else {
                continue;
            };
            let Some(term) = solve::witness(terms, conjuncts[at], var) else {
                continue;
            };
            alive[at] = false;
            peeled.push((at, var, term));
            computed_by.insert(var, at);
            for other in &vars[at] {
                if let Some(count) = open.get_mut(other) {
                    *count -= 1;
                    if *count == 1 && !body.contains_key(other) {
                        queue.push(*other);
                    }
                }
            }
        }
        Flow {
            needed: alive,
            conjuncts,
            vars,
            peeled,
            computed_by,
            body,
            reached: FxHashSet::default(),
        }
    }

    /// Body arguments that become read when these variables are.
    fn reach(&mut self, vars: Vec<TermId>) -> Vec<(PredicateId, usize)> {
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

    /// Definitions of what is not needed, in the order of evaluation.
    fn dropped_definitions(&self) -> Vec<(TermId, TermId)> {
        self.peeled
            .iter()
            .rev()
            .filter(|(at, _, _)| !self.needed[*at])
            .map(|(_, var, term)| (*var, *term))
            .collect()
    }
}

/// The arguments that are read, by a work list from those that constraints need.
fn read_arguments(system: &System, flows: &mut [Flow]) -> FxHashSet<(PredicateId, usize)> {
    let mut defining: FxHashMap<PredicateId, Vec<usize>> = FxHashMap::default();
    for (index, clause) in system.clauses.iter().enumerate() {
        if let Some(head) = &clause.head {
            defining.entry(head.predicate).or_default().push(index);
        }
    }
    let mut read = FxHashSet::default();
    let mut queue: Vec<(PredicateId, usize)> = Vec::new();
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
        for &index in defining.get(&predicate).into_iter().flatten() {
            let head = system.clauses[index].head.as_ref();
            if let Some(&arg) = head.and_then(|h| h.args.get(position)) {
                queue.extend(flows[index].reach(vec![arg]));
            }
        }
    }
    read
}

struct Back {
    old: Rc<System>,
    kept: Kept,
    /// What a touched clause's dropped conjuncts compute.
    definitions: FxHashMap<ClauseId, Vec<(TermId, TermId)>>,
}

impl BackTranslation for Back {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        self.kept.restore(&self.old, &mut model, |_| TermId::TRUE);
        complete_model(&self.old, &mut model);
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        replay("slice", &self.old, &refutation, cx, |step| {
            Ok(match self.definitions.get(&step.clause) {
                Some(definitions) => vec![OldStep::same(step, definitions)],
                None => Vec::new(),
            })
        })
    }
}
