//! Arrays taken apart into components: what the passes for cells and for arrays of records share.
//!
//! A pass decides which arrays go and how ([`Plan`]); here their variables become one variable for
//! each component everywhere, reads become reads of components, and equations hold component by
//! component. Invariant: an array that has a plan occurs only in equations, reads, stores and
//! choices, with arrays of the same plan; the pass has seen to that.

use std::borrow::Cow;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::replay::{OldStep, replay};
use super::{BackError, BackTranslation, complete_model};
use crate::chc::{Atom, ClauseId, PredicateId, System};
use crate::run::Context;
use crate::term::{Assignment, DatatypeId, Op, Sort, SortId, TermId, TermStore};
use crate::witness::{Model, Refutation};

/// How an array is taken apart.
pub(super) enum Plan {
    /// An array of records: one array for each field.
    Fields(DatatypeId),
    /// One scalar for each of these indexes, and one for an index that is none of them.
    Cells { indexes: Vec<TermId>, other: TermId },
}

impl Plan {
    /// Sorts of the components of an array of this sort, and what to call them.
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

    /// The value of the whole array from those of its components.
    fn whole(&self, terms: &TermStore, sort: SortId, parts: &[TermId]) -> TermId {
        match self {
            Plan::Cells { indexes, .. } => {
                let (rest, cells) = parts.split_last().expect("a component for the rest");
                let entries = indexes.iter().copied().zip(cells.iter().copied());
                terms.array_from_entries(sort, entries, *rest)
            }
            Plan::Fields(datatype) => {
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
                    terms.construct(*datatype, 0, &fields)
                };
                let entries: Vec<(TermId, TermId)> =
                    indexes.into_iter().map(|i| (i, row(Some(i)))).collect();
                terms.array_from_entries(sort, entries, row(None))
            }
        }
    }

    /// `array[index]` by the array's components.
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

/// Which arrays are taken apart.
#[derive(Default)]
pub(super) struct Plans {
    pub places: FxHashMap<(PredicateId, usize), Rc<Plan>>,
    /// For each clause of the system, by its variables.
    pub vars: Vec<FxHashMap<TermId, Rc<Plan>>>,
}

/// The system with arrays taken apart, and the way back.
pub(super) fn take_apart(
    pass: &'static str,
    old: Rc<System>,
    plans: &Plans,
    cx: &Context,
) -> Option<(System, Box<dyn BackTranslation>)> {
    let terms = old.terms.clone();
    let mut system = (*old).clone();
    let mut replaced = Vec::new();
    let mut places: FxHashMap<PredicateId, usize> = FxHashMap::default();
    for predicate in old.used_predicates() {
        let params = &old.predicate(predicate).params;
        let plan = |i: usize| plans.places.get(&(predicate, i));
        if (0..params.len()).all(|i| plan(i).is_none()) {
            continue;
        }
        let mut sorts = Vec::new();
        for (i, &param) in params.iter().enumerate() {
            let sort = terms.sort_of(param);
            match plan(i) {
                Some(plan) => sorts.extend(plan.components(&terms, sort).into_iter().map(|c| c.1)),
                None => sorts.push(sort),
            }
        }
        let name = old.predicate(predicate).name.clone();
        let new = system.add_predicate(&name, &sorts);
        let mut meanings = Vec::with_capacity(sorts.len());
        for (i, &param) in params.iter().enumerate() {
            match plan(i) {
                None => meanings.push(Meaning::Term(param)),
                Some(plan) => match &**plan {
                    Plan::Fields(datatype) => {
                        let count = terms.datatype(*datatype).constructors[0].fields.len();
                        meanings.extend((0..count as u32).map(|field| Meaning::Field {
                            array: param,
                            datatype: *datatype,
                            field,
                        }));
                    }
                    Plan::Cells { indexes, other } => {
                        let all = indexes.iter().chain([other]);
                        meanings.extend(all.map(|&i| Meaning::Term(terms.select(param, i))));
                    }
                },
            }
        }
        places.insert(predicate, replaced.len());
        let params = system.predicate(new).params.clone();
        replaced.push(Replaced {
            old: predicate,
            new,
            meanings: params.into_iter().zip(meanings).collect(),
        });
    }
    let mut wholes: FxHashMap<ClauseId, Vec<Whole>> = FxHashMap::default();
    for (clause, plans) in system.clauses.iter_mut().zip(&plans.vars) {
        if plans.is_empty() {
            continue;
        }
        if cx.stop().is_some() {
            return None;
        }
        let mut own: Vec<Whole> = Vec::new();
        let mut parts: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
        let mut vars: Vec<(&TermId, &Rc<Plan>)> = plans.iter().collect();
        vars.sort_unstable_by_key(|v| v.0);
        for (&var, plan) in vars {
            let sort = terms.sort_of(var);
            let name = terms.var_name(var);
            let stem = name.split('!').next().unwrap_or(name);
            let components: Vec<TermId> = plan
                .components(&terms, sort)
                .into_iter()
                .map(|(field, sort)| terms.fresh_var(&format!("{stem}.{field}"), sort))
                .collect();
            parts.insert(var, components.clone());
            own.push(Whole {
                var,
                plan: plan.clone(),
                parts: components,
            });
        }
        let splitter = Splitter {
            terms: &terms,
            plans,
            parts: &parts,
        };
        clause.constraint = splitter.convert(clause.constraint);
        for atom in clause.body.iter_mut().chain(&mut clause.head) {
            if let Some(&at) = places.get(&atom.predicate) {
                let args = atom.args.iter().flat_map(|arg| match parts.get(arg) {
                    Some(own) => own.clone(),
                    None => vec![*arg],
                });
                *atom = Atom {
                    predicate: replaced[at].new,
                    args: args.collect(),
                };
            }
        }
        wholes.insert(clause.id, own);
    }
    let back = Back {
        pass,
        old,
        replaced,
        wholes,
    };
    Some((system, Box::new(back)))
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
        // Plans by array terms, and the rewritten other terms.
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

    /// The components of an array. `split` remembers them for all but constant arrays, which may
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
        let mut stack = vec![array];
        while let Some(&t) = stack.last() {
            if own.contains_key(&t) || split.contains_key(&t) {
                stack.pop();
                continue;
            }
            let node = terms.node(t);
            let below: &[TermId] = match node.op {
                Op::Store => &node.args[..1],
                Op::Ite => &node.args[1..],
                _ => &[],
            };
            let found = |t: &TermId| own.get(t).or_else(|| split.get(t));
            let missing: Vec<TermId> = below
                .iter()
                .copied()
                .filter(|t| found(t).is_none())
                .collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let parts = match node.op {
                Op::Store => {
                    let below = found(&node.args[0]).expect("made before");
                    plan.store(terms, below, plain[&node.args[1]], plain[&node.args[2]])
                }
                Op::Ite => {
                    let then = found(&node.args[1]).expect("made before");
                    let other = found(&node.args[2]).expect("made before");
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
            stack.pop();
        }
        own.remove(&array).unwrap_or_else(|| split[&array].clone())
    }
}

/// What a formal variable of a new predicate is in terms of the old one's.
enum Meaning {
    Term(TermId),
    /// The array of one field of the records in an array.
    Field {
        array: TermId,
        datatype: DatatypeId,
        field: u32,
    },
}

struct Replaced {
    old: PredicateId,
    new: PredicateId,
    meanings: FxHashMap<TermId, Meaning>,
}

/// An array variable of an old clause with its components.
struct Whole {
    var: TermId,
    plan: Rc<Plan>,
    parts: Vec<TermId>,
}

struct Back {
    pass: &'static str,
    old: Rc<System>,
    replaced: Vec<Replaced>,
    wholes: FxHashMap<ClauseId, Vec<Whole>>,
}

impl BackTranslation for Back {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        let terms = &self.old.terms;
        for replaced in &self.replaced {
            if let Some(formula) = model.definitions.remove(&replaced.new) {
                let formula = express(terms, formula, &replaced.meanings);
                model.definitions.insert(replaced.old, formula);
            }
        }
        complete_model(&self.old, &mut model);
        Ok(model)
    }

    fn refutation(
        &self,
        refutation: Refutation,
        cx: &mut Context,
    ) -> Result<Refutation, BackError> {
        let terms = &self.old.terms;
        replay(self.pass, &self.old, &refutation, cx, |step| {
            let Some(wholes) = self.wholes.get(&step.clause) else {
                return Ok(Vec::new());
            };
            let mut known: Assignment = step.values.clone();
            for whole in wholes {
                let parts: Option<Vec<TermId>> = whole
                    .parts
                    .iter()
                    .map(|p| {
                        // A component that the new clause does not mention is free.
                        let given = step.values.get(p).copied();
                        given.or_else(|| terms.default_value(terms.sort_of(*p)))
                    })
                    .collect();
                if let Some(parts) = parts {
                    let sort = terms.sort_of(whole.var);
                    known.insert(whole.var, whole.plan.whole(terms, sort, &parts));
                }
            }
            let mut old = OldStep::same(step, &[]);
            old.known = Cow::Owned(known);
            Ok(vec![old])
        })
    }
}

/// A formula over a new predicate's formal variables in terms of the old one's. Arrays of fields
/// are no terms there: reads of them become fields of what is read, equations between them hold for
/// every index, and what is left is quantified.
fn express(terms: &TermStore, formula: TermId, meanings: &FxHashMap<TermId, Meaning>) -> TermId {
    let simple: FxHashMap<TermId, TermId> = meanings
        .iter()
        .filter_map(|(&var, meaning)| match meaning {
            Meaning::Term(term) => Some((var, *term)),
            Meaning::Field { .. } => None,
        })
        .collect();
    let formula = terms.substitute(formula, &simple);
    if simple.len() == meanings.len() {
        return formula;
    }
    let reader = Reader { terms, meanings };
    let mut memo = FxHashMap::default();
    let mut formula = terms.rewrite_bottom_up(formula, &mut memo, |t| {
        let node = terms.node(t);
        match node.op {
            Op::Select if reader.mentions(node.args[0]) => reader.read(node.args[0], node.args[1]),
            Op::Eq if reader.mentions(node.args[0]) || reader.mentions(node.args[1]) => {
                reader.equal(node.args[0], node.args[1])
            }
            _ => t,
        }
    });
    for var in terms.free_vars(&[formula]) {
        if let Some(Meaning::Field { .. }) = meanings.get(&var) {
            let copy = terms.fresh_var("field", terms.sort_of(var));
            let map = std::iter::once((var, copy)).collect();
            let same = reader.equal(copy, var);
            let body = terms.and(&[terms.substitute(formula, &map), same]);
            formula = terms.exists(&[copy], body);
        }
    }
    formula
}

struct Reader<'a> {
    terms: &'a TermStore,
    meanings: &'a FxHashMap<TermId, Meaning>,
}

impl Reader<'_> {
    /// Whether an array of a field is what the array term is made from, outside of its elements.
    fn mentions(&self, array: TermId) -> bool {
        let mut stack = vec![array];
        while let Some(t) = stack.pop() {
            let node = self.terms.node(t);
            match node.op {
                Op::Var(_) if matches!(self.meanings.get(&t), Some(Meaning::Field { .. })) => {
                    return true;
                }
                Op::Store => stack.push(node.args[0]),
                Op::Ite => stack.extend_from_slice(&node.args[1..]),
                _ => {}
            }
        }
        false
    }

    /// `array[index]`, through stores and choices.
    fn read(&self, array: TermId, index: TermId) -> TermId {
        let terms = self.terms;
        let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut stack = vec![array];
        while let Some(&t) = stack.last() {
            if memo.contains_key(&t) {
                stack.pop();
                continue;
            }
            let node = terms.node(t);
            let below: &[TermId] = match node.op {
                Op::Store => &node.args[..1],
                Op::Ite => &node.args[1..],
                _ => &[],
            };
            let missing: Vec<TermId> = below
                .iter()
                .copied()
                .filter(|b| !memo.contains_key(b))
                .collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let value = match node.op {
                Op::Store => {
                    let here = terms.eq(node.args[1], index);
                    terms.ite(here, node.args[2], memo[&node.args[0]])
                }
                Op::Ite => terms.ite(node.args[0], memo[&node.args[1]], memo[&node.args[2]]),
                _ => match self.meanings.get(&t) {
                    Some(Meaning::Field {
                        array,
                        datatype,
                        field,
                    }) => terms.field(*datatype, 0, *field, terms.select(*array, index)),
                    _ => terms.select(t, index),
                },
            };
            memo.insert(t, value);
            stack.pop();
        }
        memo[&array]
    }

    /// `a = b` index by index.
    fn equal(&self, a: TermId, b: TermId) -> TermId {
        let terms = self.terms;
        let (mut a, mut b) = (a, b);
        let mut bound = Vec::new();
        // Elements may be arrays again; sorts are finite trees.
        while let Sort::Array(index, _) = terms.sort(terms.sort_of(a))
            && (self.mentions(a) || self.mentions(b))
        {
            let at = terms.fresh_var("i", index);
            (a, b) = (self.read(a, at), self.read(b, at));
            bound.push(at);
        }
        terms.forall(&bound, terms.eq(a, b))
    }
}
