//! Replaces arrays by components, for `cells`.
//!
//! The pass decides which arrays are replaced and how ([`Plan`]). Their variables become one variable
//! for each component, reads become components, and equations hold component by component.
//!
//! Invariant, ensured by the passes: an array with a plan occurs only in equations, reads, stores
//! and choices, with arrays of the same plan.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::replacement::{Meaning, Origin, Replacement, expand};
use super::shifted::array_order;
use super::{Place, Step, part_var};
use alphorn_chc::System;
use alphorn_term::run::Context;
use alphorn_term::{Op, Sort, SortId, TermId, TermStore};

/// How an array is replaced: by one scalar for each of these indexes, and one for `other`, an index
/// that is none of them.
pub(super) struct Plan {
    pub indexes: Vec<TermId>,
    pub other: TermId,
}

impl Plan {
    /// The names of the components.
    fn components(&self) -> impl Iterator<Item = String> {
        let names = (0..self.indexes.len()).map(|i| format!("cell{i}"));
        names.chain(["rest".to_owned()])
    }

    /// The components of an array in terms of the array.
    fn meanings(&self, terms: &TermStore, array: TermId) -> Vec<Meaning> {
        let all = self.indexes.iter().chain([&self.other]);
        all.map(|&i| Meaning::Term(terms.select(array, i)))
            .collect()
    }

    /// The position of an index of the plan.
    fn position(&self, index: TermId) -> usize {
        let at = self.indexes.iter().position(|&i| i == index);
        at.expect("an index of the plan")
    }
}

/// The arrays that are replaced.
#[derive(Default)]
pub(super) struct Plans {
    /// The plans of arguments.
    pub places: FxHashMap<Place, Rc<Plan>>,
    /// For each clause of the system, the plans of its variables.
    pub vars: Vec<FxHashMap<TermId, Rc<Plan>>>,
}

/// An array of this sort from its cells.
fn from_cells(terms: &TermStore, sort: SortId, indexes: &[TermId], parts: &[TermId]) -> TermId {
    let (rest, cells) = parts.split_last().expect("a component for the rest");
    let entries = indexes.iter().zip(cells);
    entries.fold(terms.const_array(sort, *rest), |array, (&index, &cell)| {
        terms.store(array, index, cell)
    })
}

/// The system with the arrays replaced; `None` if there are none, or the budget has ended.
pub(super) fn take_apart(old: &Rc<System>, plans: &Plans, cx: &Context) -> Option<Step> {
    if plans.vars.iter().all(FxHashMap::is_empty) {
        return None;
    }
    let terms = old.terms.clone();
    let mut system = (**old).clone();
    let mut replacement = Replacement::new(old);
    for predicate in old.used_predicates() {
        let params = &old.predicate(predicate).params;
        let plan = |i: usize| plans.places.get(&(predicate, i));
        if (0..params.len()).all(|i| plan(i).is_none()) {
            continue;
        }
        let mut meanings = Vec::new();
        for (i, &param) in params.iter().enumerate() {
            match plan(i) {
                None => meanings.push(Meaning::Term(param)),
                Some(plan) => meanings.extend(plan.meanings(&terms, param)),
            }
        }
        replacement.replace(&mut system, predicate, meanings);
    }
    for (clause, plans) in system.clauses.iter_mut().zip(&plans.vars) {
        if plans.is_empty() {
            continue;
        }
        if cx.stop().is_some() {
            return None;
        }
        let mut origin = Origin::new(clause.id, Vec::new());
        let mut parts: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
        let mut vars: Vec<(&TermId, &Rc<Plan>)> = plans.iter().collect();
        vars.sort_unstable_by_key(|v| v.0);
        for (&var, plan) in vars {
            let sort = terms.sort_of(var);
            let Sort::Array(_, element) = terms.sort(sort) else {
                continue;
            };
            let own: Vec<TermId> = plan
                .components()
                .map(|name| part_var(&terms, var, &name, element))
                .collect();
            let whole = from_cells(&terms, sort, &plan.indexes, &own);
            origin.definitions.push((var, whole));
            parts.insert(var, own);
        }
        let splitter = Splitter {
            terms: &terms,
            plans,
            parts: &parts,
        };
        clause.constraint = splitter.convert(clause.constraint);
        replacement.replace_atoms(clause, |atom| expand(&atom.args, &parts));
        replacement.note(clause.id, origin);
    }
    Some(replacement.step(system))
}

/// Rewrites the constraint of one clause.
struct Splitter<'a> {
    terms: &'a TermStore,
    plans: &'a FxHashMap<TermId, Rc<Plan>>,
    parts: &'a FxHashMap<TermId, Vec<TermId>>,
}

impl Splitter<'_> {
    fn convert(&self, formula: TermId) -> TermId {
        let terms = self.terms;
        let mut order = Vec::new();
        terms.post_order(&[formula], |t| order.push(t));
        // Plans of array terms, and the rewritten other terms.
        let mut plan_of: FxHashMap<TermId, Rc<Plan>> = FxHashMap::default();
        let mut plain: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut split: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
        for t in order {
            let node = terms.node(t);
            let known = |t: &TermId| plan_of.get(t).cloned();
            let plan = match node.op {
                Op::Var(_) => self.plans.get(&t).cloned(),
                Op::Store => known(&node.args[0]),
                Op::Ite => known(&node.args[1]).or_else(|| known(&node.args[2])),
                _ => None,
            };
            if let Some(plan) = plan {
                // Its components are made where the array is read or compared.
                plan_of.insert(t, plan);
                continue;
            }
            let new = match node.op {
                Op::Eq => known(&node.args[0])
                    .or_else(|| known(&node.args[1]))
                    .map(|plan| {
                        let a = self.components(node.args[0], &plan, &plain, &mut split);
                        let b = self.components(node.args[1], &plan, &plain, &mut split);
                        let pairs: Vec<TermId> =
                            a.iter().zip(&b).map(|(&a, &b)| terms.eq(a, b)).collect();
                        terms.and(&pairs)
                    }),
                Op::Select => known(&node.args[0]).map(|plan| {
                    let parts = self.components(node.args[0], &plan, &plain, &mut split);
                    parts[plan.position(plain[&node.args[1]])]
                }),
                _ => None,
            };
            let new = new.unwrap_or_else(|| {
                let args: Vec<TermId> = node.args.iter().map(|a| plain[a]).collect();
                if args == *node.args {
                    t
                } else {
                    terms.rebuild(&node.op, &args, node.sort)
                }
            });
            plain.insert(t, new);
        }
        plain[&formula]
    }

    /// The components of an array. `split` caches them for all arrays but constant ones, which may
    /// belong to several plans.
    fn components(
        &self,
        array: TermId,
        plan: &Plan,
        plain: &FxHashMap<TermId, TermId>,
        split: &mut FxHashMap<TermId, Vec<TermId>>,
    ) -> Vec<TermId> {
        let terms = self.terms;
        let mut own: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
        for t in array_order(terms, array, |t| split.contains_key(&t)) {
            let node = terms.node(t);
            let found = |t: &TermId| own.get(t).or_else(|| split.get(t));
            let parts = match node.op {
                Op::Store => {
                    let below = found(&node.args[0]).expect("array_order has it earlier");
                    let mut parts = below.clone();
                    parts[plan.position(plain[&node.args[1]])] = plain[&node.args[2]];
                    parts
                }
                Op::Ite => {
                    let then = found(&node.args[1]).expect("array_order has it earlier");
                    let other = found(&node.args[2]).expect("array_order has it earlier");
                    let condition = plain[&node.args[0]];
                    let pairs = then.iter().zip(other);
                    pairs.map(|(&a, &b)| terms.ite(condition, a, b)).collect()
                }
                Op::ConstArray => vec![plain[&node.args[0]]; plan.indexes.len() + 1],
                _ => self.parts[&t].clone(),
            };
            if self.plans.contains_key(&t) || !node.is_ground {
                split.insert(t, parts);
            } else {
                own.insert(t, parts);
            }
        }
        own.remove(&array).unwrap_or_else(|| split[&array].clone())
    }
}
