//! Takes records apart: variables of a sort with one constructor become its fields.
//!
//! Tuples and structures, as Solidity's and Rust's verifiers write them, are such sorts; after this
//! pass most systems have no datatypes left outside of arrays. Records in records are expanded too,
//! within bounds; a sort that contains itself is left alone where it recurs.
//!
//! Invariant: a variable of record sort is replaced by its constructor over fresh variables
//! everywhere in its clause, so nothing is lost: each value of the sort has exactly one such form.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::replay::{OldStep, replay};
use super::{BackError, BackTranslation, Step, TransformError, Transformation, complete_model};
use crate::chc::{Atom, ClauseId, PredicateId, System};
use crate::run::Context;
use crate::term::{DatatypeId, Op, Sort, SortId, TermId, TermStore};
use crate::witness::{Model, Refutation};

/// A sort with more fields than this, nested ones counted, is left as it is.
const FIELDS: usize = 256;

/// A predicate is not expanded to more arguments than this, unless it had as many before.
const ARITY: usize = 4096;

/// The pass.
pub struct Records;

impl Transformation for Records {
    fn name(&self) -> &'static str {
        "records"
    }

    fn apply(&self, system: System, cx: &mut Context) -> Result<Step, TransformError> {
        let terms = system.terms.clone();
        let old = Rc::new(system);
        let mut system = (*old).clone();
        let mut records = Expansion {
            terms: &terms,
            shapes: FxHashMap::default(),
        };

        let mut predicates: FxHashMap<PredicateId, PredicateId> = FxHashMap::default();
        let mut replaced = Vec::new();
        for predicate in old.used_predicates() {
            let params = &old.predicate(predicate).params;
            let mut leaves: Vec<TermId> = Vec::new();
            for &param in params {
                records.leaves(param, &mut leaves);
            }
            if leaves == *params || leaves.len() > ARITY.max(params.len()) {
                continue;
            }
            let sorts: Vec<SortId> = leaves.iter().map(|&l| terms.sort_of(l)).collect();
            let name = old.predicate(predicate).name.clone();
            let new = system.add_predicate(&name, &sorts);
            let map: FxHashMap<TermId, TermId> = system
                .predicate(new)
                .params
                .iter()
                .copied()
                .zip(leaves)
                .collect();
            predicates.insert(predicate, new);
            replaced.push(Replaced {
                old: predicate,
                new,
                map,
            });
        }

        let mut definitions = FxHashMap::default();
        for clause in &mut system.clauses {
            if let Some(reason) = cx.stop() {
                return Err(TransformError {
                    pass: "records",
                    message: reason.to_string(),
                });
            }
            // Arguments that stay records must stay variables.
            let fixed: FxHashSet<TermId> = clause
                .atoms()
                .filter(|a| !predicates.contains_key(&a.predicate))
                .flat_map(|a| a.args.iter().copied())
                .collect();
            let mut map = FxHashMap::default();
            let mut leaves: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
            let mut pairs = Vec::new();
            for var in clause.vars(&terms) {
                if records.record(terms.sort_of(var)).is_some() && !fixed.contains(&var) {
                    let mut own = Vec::new();
                    let whole = records.build(terms.var_name(var), terms.sort_of(var), &mut own);
                    map.insert(var, whole);
                    leaves.insert(var, own);
                    pairs.push((var, whole));
                }
            }
            let constraint = terms.substitute(clause.constraint, &map);
            let constraint = records.normalize(constraint);
            if map.is_empty() && constraint == clause.constraint {
                continue;
            }
            clause.constraint = constraint;
            for atom in clause.body.iter_mut().chain(&mut clause.head) {
                if let Some(&new) = predicates.get(&atom.predicate) {
                    *atom = expand_atom(atom, new, &leaves);
                }
            }
            definitions.insert(clause.id, pairs);
        }
        let changed = !definitions.is_empty();
        Ok(Step {
            system,
            back: Box::new(Back {
                old,
                replaced,
                definitions,
            }),
            changed,
        })
    }
}

fn expand_atom(atom: &Atom, new: PredicateId, leaves: &FxHashMap<TermId, Vec<TermId>>) -> Atom {
    let args = atom
        .args
        .iter()
        .flat_map(|arg| match leaves.get(arg) {
            Some(own) => own.clone(),
            None => vec![*arg],
        })
        .collect();
    Atom {
        predicate: new,
        args,
    }
}

/// What expansion makes of a sort.
#[derive(Clone, Copy)]
enum Shape {
    /// One variable stays one.
    Leaf,
    /// A record and the number of its leaves.
    Record(DatatypeId, usize),
    /// One constructor, but the sort contains itself, or a record that does.
    Circular,
}

/// Which sorts are expanded.
struct Expansion<'a> {
    terms: &'a TermStore,
    shapes: FxHashMap<SortId, Shape>,
}

impl Expansion<'_> {
    fn record(&mut self, sort: SortId) -> Option<DatatypeId> {
        match self.shape(sort, &mut Vec::new()) {
            Shape::Record(id, _) => Some(id),
            _ => None,
        }
    }

    // Recursive through nested sorts only, each open once.
    fn shape(&mut self, sort: SortId, open: &mut Vec<SortId>) -> Shape {
        if let Some(&known) = self.shapes.get(&sort) {
            return known;
        }
        let Sort::Datatype(id) = self.terms.sort(sort) else {
            return Shape::Leaf;
        };
        let constructors = &self.terms.datatype(id).constructors;
        if constructors.len() != 1 {
            return Shape::Leaf;
        }
        open.push(sort);
        let mut leaves = 0usize;
        let mut circular = false;
        for field in &constructors[0].fields {
            if open.contains(&field.sort) {
                circular = true;
                continue;
            }
            match self.shape(field.sort, open) {
                Shape::Leaf => leaves += 1,
                Shape::Record(_, count) => leaves += count,
                Shape::Circular => circular = true,
            }
        }
        open.pop();
        let shape = if circular {
            Shape::Circular
        } else if leaves > FIELDS {
            Shape::Leaf
        } else {
            Shape::Record(id, leaves)
        };
        self.shapes.insert(sort, shape);
        shape
    }

    /// The record's constructor over fresh variables, which are added to `leaves`.
    fn build(&mut self, name: &str, sort: SortId, leaves: &mut Vec<TermId>) -> TermId {
        let Some(id) = self.record(sort) else {
            let leaf = self.terms.fresh_var(name, sort);
            leaves.push(leaf);
            return leaf;
        };
        let stem = name.split('!').next().unwrap_or(name);
        let fields: Vec<TermId> = self.terms.datatype(id).constructors[0]
            .fields
            .iter()
            .map(|f| self.build(&format!("{stem}.{}", f.selector), f.sort, leaves))
            .collect();
        self.terms.construct(id, 0, &fields)
    }

    /// The fields of a term, those of nested records instead of these.
    fn leaves(&mut self, term: TermId, out: &mut Vec<TermId>) {
        match self.record(self.terms.sort_of(term)) {
            None => out.push(term),
            Some(id) => {
                for i in 0..self.terms.datatype(id).constructors[0].fields.len() {
                    self.leaves(self.terms.field(id, 0, i as u32, term), out);
                }
            }
        }
    }

    /// Pushes `ite` into records and equations between records down to their fields.
    fn normalize(&mut self, formula: TermId) -> TermId {
        let terms = self.terms;
        let mut memo = FxHashMap::default();
        terms.rewrite_bottom_up(formula, &mut memo, |term| {
            let node = terms.node(term);
            match node.op {
                Op::Ite if self.record(node.sort).is_some() => {
                    self.choice(node.args[0], node.args[1], node.args[2])
                }
                Op::Eq => self.equal(node.args[0], node.args[1]).unwrap_or(term),
                _ => term,
            }
        })
    }

    /// `ite` field by field.
    fn choice(&mut self, condition: TermId, then: TermId, other: TermId) -> TermId {
        let terms = self.terms;
        let Some(id) = self.record(terms.sort_of(then)) else {
            return terms.ite(condition, then, other);
        };
        let count = terms.datatype(id).constructors[0].fields.len();
        let fields: Vec<TermId> = (0..count as u32)
            .map(|i| {
                let (x, y) = (terms.field(id, 0, i, then), terms.field(id, 0, i, other));
                self.choice(condition, x, y)
            })
            .collect();
        terms.construct(id, 0, &fields)
    }

    /// The equation field by field, if the sides are records and one of them is a constructor's.
    fn equal(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        let terms = self.terms;
        let id = self.record(terms.sort_of(a))?;
        if !matches!(terms.op(a), Op::Construct(..)) && !matches!(terms.op(b), Op::Construct(..)) {
            return None;
        }
        let count = terms.datatype(id).constructors[0].fields.len();
        let conjuncts: Vec<TermId> = (0..count as u32)
            .map(|i| {
                let (x, y) = (terms.field(id, 0, i, a), terms.field(id, 0, i, b));
                self.equal(x, y).unwrap_or_else(|| terms.eq(x, y))
            })
            .collect();
        Some(terms.and(&conjuncts))
    }
}

struct Replaced {
    old: PredicateId,
    new: PredicateId,
    /// From the new predicate's formal variables to fields of the old one's.
    map: FxHashMap<TermId, TermId>,
}

struct Back {
    old: Rc<System>,
    replaced: Vec<Replaced>,
    /// For each changed clause, its records over the fresh variables.
    definitions: FxHashMap<ClauseId, Vec<(TermId, TermId)>>,
}

impl BackTranslation for Back {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        let terms = &self.old.terms;
        for replaced in &self.replaced {
            if let Some(formula) = model.definitions.remove(&replaced.new) {
                let formula = terms.substitute(formula, &replaced.map);
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
        replay("records", &self.old, &refutation, cx, |step| {
            let Some(definitions) = self.definitions.get(&step.clause) else {
                return Ok(Vec::new());
            };
            Ok(vec![OldStep::rebuilt(terms, step, definitions)])
        })
    }
}
