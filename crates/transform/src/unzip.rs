//! Replaces arrays of records by one array for each field.
//!
//! What a clause does with one field of an array's elements then concerns one array only, and
//! `slice` can remove fields that nothing reads. Equality of arrays is extensional, so an array of
//! records and the arrays of its fields determine each other.
//!
//! Invariant: a sort is replaced in the whole system or not at all; not if an array of that sort is
//! an element, an index, or a field, or is bound by a quantifier.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::components::{Plan, Plans, take_apart};
use super::{Step, Transformation};
use alphorn_chc::System;
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, Op, Sort, SortId, TermId, TermStore};

/// The limits of the pass.
struct Limits {
    /// Fields of a record; arrays of larger records are not replaced.
    max_fields: usize,
    /// Arguments of an expanded predicate; if one would have more, the pass does nothing.
    max_arity: usize,
}

const LIMITS: Limits = Limits {
    max_fields: 8,
    max_arity: 2048,
};

/// The pass.
pub struct Unzip;

impl Transformation for Unzip {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        take_apart(old, &plan(old), cx)
    }
}

/// The record that is the element sort of an array sort, if arrays of the sort can be replaced.
fn record(terms: &TermStore, sort: SortId) -> Option<DatatypeId> {
    let Sort::Array(_, element) = terms.sort(sort) else {
        return None;
    };
    let Sort::Datatype(id) = terms.sort(element) else {
        return None;
    };
    let constructors = &terms.datatype(id).constructors;
    let fits = constructors.len() == 1
        && (1..=LIMITS.max_fields).contains(&constructors[0].fields.len())
        && !contains(terms, element);
    fits.then_some(id)
}

/// Whether a datatype is among the sorts of its own fields, at any depth.
fn contains(terms: &TermStore, sort: SortId) -> bool {
    let mut seen = FxHashSet::default();
    let mut stack = vec![sort];
    while let Some(current) = stack.pop() {
        let parts: Vec<SortId> = match terms.sort(current) {
            Sort::Array(index, element) => vec![index, element],
            Sort::Datatype(id) => terms
                .datatype(id)
                .constructors
                .iter()
                .flat_map(|c| c.fields.iter().map(|f| f.sort))
                .collect(),
            _ => Vec::new(),
        };
        for part in parts {
            if part == sort {
                return true;
            }
            if seen.insert(part) {
                stack.push(part);
            }
        }
    }
    false
}

fn plan(system: &System) -> Plans {
    let terms = &*system.terms;
    let constraints: Vec<TermId> = system.clauses.iter().map(|c| c.constraint).collect();
    let mut wanted: FxHashMap<SortId, Option<DatatypeId>> = FxHashMap::default();
    let mut find = |sort: SortId| *wanted.entry(sort).or_insert_with(|| record(terms, sort));
    let mut refused: FxHashSet<SortId> = FxHashSet::default();
    terms.post_order(&constraints, |t| {
        let node = terms.node(t);
        if let Op::Forall(bound) | Op::Exists(bound) = &node.op {
            refused.extend(bound.iter().map(|&b| terms.sort_of(b)));
        }
        let made = matches!(node.op, Op::Var(_) | Op::Store | Op::ConstArray | Op::Ite);
        if !made && find(node.sort).is_some() {
            refused.insert(node.sort);
        }
        for (at, &arg) in node.args.iter().enumerate() {
            let sort = terms.sort_of(arg);
            let used = match node.op {
                Op::Eq => true,
                Op::Select | Op::Store => at == 0,
                Op::Ite => at > 0,
                _ => false,
            };
            if !used && find(sort).is_some() {
                refused.insert(sort);
            }
        }
    });
    let mut shared: FxHashMap<DatatypeId, Rc<Plan>> = FxHashMap::default();
    let mut plan_of = |sort: SortId| {
        let id = find(sort).filter(|_| !refused.contains(&sort))?;
        let plan = shared
            .entry(id)
            .or_insert_with(|| Rc::new(Plan::Fields(id)));
        Some(plan.clone())
    };
    let mut plans = Plans::default();
    for predicate in system.used_predicates() {
        let params = &system.predicate(predicate).params;
        let mut expands = |p: &TermId| plan_of(terms.sort_of(*p)).is_some();
        if params.len() + LIMITS.max_fields * params.iter().filter(|p| expands(p)).count()
            > LIMITS.max_arity
        {
            // All predicates or none, since their arguments are compared.
            return Plans::default();
        }
        for (i, &param) in params.iter().enumerate() {
            if let Some(plan) = plan_of(terms.sort_of(param)) {
                plans.places.insert((predicate, i), plan);
            }
        }
    }
    for clause in &system.clauses {
        let vars = clause.vars(terms).into_iter();
        let planned = vars.filter_map(|v| Some((v, plan_of(terms.sort_of(v))?)));
        plans.vars.push(planned.collect());
    }
    plans
}
