//! Replaces arrays by components, for `cells` and `unzip`.
//!
//! A pass decides which arrays are replaced and how ([`Plan`]). Their variables become one variable
//! for each component, reads become reads of components, and equations hold component by component.
//!
//! Invariant, ensured by the passes: an array with a plan occurs only in equations, reads, stores
//! and choices, with arrays of the same plan.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::columns::{Column, array_order};
use super::replacement::{Meaning, Origin, Replacement, expand};
use super::{Place, Step, part_var};
use alphorn_chc::System;
use alphorn_term::run::Context;
use alphorn_term::{Assignment, DatatypeId, Op, Sort, SortId, TermId, TermStore};

/// How an array is replaced.
pub(super) enum Plan {
    /// An array of records becomes one array for each field.
    Fields(DatatypeId),
    /// One scalar for each of these indexes, and one for `other`, an index that is none of them.
    Cells { indexes: Vec<TermId>, other: TermId },
}

impl Plan {
    /// The names and sorts of the components of an array of this sort.
    fn components(&self, terms: &TermStore, sort: SortId) -> Vec<(String, SortId)> {
        let Sort::Array(index, element) = terms.sort(sort) else {
            return Vec::new();
        };
        match self {
            Plan::Fields(datatype) => terms.datatype(*datatype).constructors[0]
                .fields
                .iter()
                .map(|f| (f.selector.clone(), terms.array_sort(index, f.sort)))
                .collect(),
            Plan::Cells { indexes, .. } => {
                let names = (0..indexes.len()).map(|i| format!("cell{i}"));
                let names = names.chain(["rest".to_owned()]);
                names.map(|n| (n, element)).collect()
            }
        }
    }

    /// The components of an array in terms of the array.
    fn meanings(&self, terms: &TermStore, array: TermId) -> Vec<Meaning> {
        match self {
            Plan::Fields(datatype) => {
                let count = terms.datatype(*datatype).constructors[0].fields.len() as u32;
                let column = |field| Column::Field {
                    array,
                    datatype: *datatype,
                    field,
                };
                (0..count).map(|f| Meaning::Column(column(f))).collect()
            }
            Plan::Cells { indexes, other } => {
                let all = indexes.iter().chain([other]);
                all.map(|&i| Meaning::Term(terms.select(array, i)))
                    .collect()
            }
        }
    }

    /// `array[index]` from the array's components.
    fn read(&self, terms: &TermStore, parts: &[TermId], index: TermId) -> TermId {
        match self {
            Plan::Fields(datatype) => {
                let fields: Vec<TermId> = parts.iter().map(|&p| terms.select(p, index)).collect();
                terms.construct(*datatype, 0, &fields)
            }
            Plan::Cells { indexes, .. } => {
                let at = indexes.iter().position(|&i| i == index);
                parts[at.expect("an index of the plan")]
            }
        }
    }

    /// The components after a store.
    fn store(
        &self,
        terms: &TermStore,
        parts: &[TermId],
        index: TermId,
        value: TermId,
    ) -> Vec<TermId> {
        match self {
            Plan::Fields(datatype) => parts
                .iter()
                .zip(0..)
                .map(|(&p, i)| terms.store(p, index, terms.field(*datatype, 0, i, value)))
                .collect(),
            Plan::Cells { indexes, .. } => {
                let at = indexes.iter().position(|&i| i == index);
                let mut parts = parts.to_vec();
                parts[at.expect("an index of the plan")] = value;
                parts
            }
        }
    }

    /// The components of a constant array.
    fn constant(&self, terms: &TermStore, sort: SortId, element: TermId) -> Vec<TermId> {
        let sorts = self.components(terms, sort);
        match self {
            Plan::Fields(datatype) => sorts
                .iter()
                .zip(0..)
                .map(|((_, s), i)| terms.const_array(*s, terms.field(*datatype, 0, i, element)))
                .collect(),
            Plan::Cells { .. } => vec![element; sorts.len()],
        }
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

/// The array value of this sort from the values of the arrays of its fields.
fn from_columns(terms: &TermStore, sort: SortId, datatype: DatatypeId, parts: &[TermId]) -> TermId {
    let mut indexes: FxHashSet<TermId> = FxHashSet::default();
    let mut columns: Vec<(FxHashMap<TermId, TermId>, TermId)> = Vec::new();
    for &part in parts {
        let (entries, default) = terms.array_value(part);
        indexes.extend(entries.iter().map(|e| e.0));
        columns.push((entries.into_iter().collect(), default));
    }
    let row = |index: Option<TermId>| {
        let fields: Vec<TermId> = columns
            .iter()
            .map(|(entries, default)| {
                let entry = index.and_then(|i| entries.get(&i));
                entry.copied().unwrap_or(*default)
            })
            .collect();
        terms.construct(datatype, 0, &fields)
    };
    let entries: Vec<(TermId, TermId)> = indexes.into_iter().map(|i| (i, row(Some(i)))).collect();
    terms.array_from_entries(sort, entries, row(None))
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
            let components = plan.components(&terms, sort).into_iter();
            let own: Vec<TermId> = components
                .map(|(name, sort)| part_var(&terms, var, &name, sort))
                .collect();
            match &**plan {
                Plan::Cells { indexes, .. } => {
                    let whole = from_cells(&terms, sort, indexes, &own);
                    origin.definitions.push((var, whole));
                }
                Plan::Fields(datatype) => {
                    let (terms, datatype, own) = (terms.clone(), *datatype, own.clone());
                    let whole = move |values: &Assignment| {
                        // A component that the new clause does not mention may have any value.
                        let value = |part: &TermId| match values.get(part) {
                            Some(&value) => Some(value),
                            None => terms.default_value(terms.sort_of(*part)),
                        };
                        let own: Option<Vec<TermId>> = own.iter().map(value).collect();
                        Some(from_columns(&terms, sort, datatype, &own?))
                    };
                    origin.computed.push((var, Box::new(whole)));
                }
            }
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
                    plan.read(terms, &parts, plain[&node.args[1]])
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
                    plan.store(terms, below, plain[&node.args[1]], plain[&node.args[2]])
                }
                Op::Ite => {
                    let then = found(&node.args[1]).expect("array_order has it earlier");
                    let other = found(&node.args[2]).expect("array_order has it earlier");
                    let condition = plain[&node.args[0]];
                    let pairs = then.iter().zip(other);
                    pairs.map(|(&a, &b)| terms.ite(condition, a, b)).collect()
                }
                Op::ConstArray => plan.constant(terms, node.sort, plain[&node.args[0]]),
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
