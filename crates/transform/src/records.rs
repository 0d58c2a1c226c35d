//! Replaces variables of a sort with one constructor (records) by their fields.
//!
//! Verifiers for Solidity and Rust encode tuples and structures as records; after this pass most
//! systems have no datatypes outside of arrays. Nested records are expanded, too, within limits; a
//! sort that contains itself is not expanded.
//!
//! Invariant: a variable of a record sort is replaced by its constructor over fresh variables
//! everywhere in its clause. Each value of the sort has exactly one such form, so the clause is
//! equivalent.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::replacement::{Origin, Replacement, expand};
use super::{Step, Transformation, stem};
use alphorn_chc::{Clause, System};
use alphorn_term::run::Context;
use alphorn_term::{DatatypeId, Op, Sort, SortId, TermId, TermStore};

/// The limits of the pass.
struct Limits {
    /// Fields of a record, including those of nested records; a record with more is not expanded.
    max_fields: usize,
    /// Arguments of an expanded predicate; a predicate that would have more, and more than before,
    /// is not expanded.
    max_arity: usize,
}

const LIMITS: Limits = Limits {
    max_fields: 256,
    max_arity: 4096,
};

/// The pass.
pub struct Records;

impl Transformation for Records {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let terms = old.terms.clone();
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        let mut records = Expansion {
            terms: &terms,
            shapes: FxHashMap::default(),
        };
        for predicate in old.used_predicates() {
            let params = &old.predicate(predicate).params;
            let mut leaves: Vec<TermId> = Vec::new();
            for &param in params {
                records.leaves(param, &mut leaves);
            }
            if leaves != *params && leaves.len() <= LIMITS.max_arity.max(params.len()) {
                replacement.replace_by_terms(&mut system, predicate, leaves);
            }
        }
        for clause in &mut system.clauses {
            if cx.stop().is_some() {
                return None;
            }
            // Arguments that remain records must remain variables.
            let fixed: FxHashSet<TermId> = clause
                .atoms()
                .filter(|a| replacement.image(a.predicate).is_none())
                .flat_map(|a| a.args.iter().copied())
                .collect();
            let kept = equal_locals(&terms, clause, &fixed);
            let mut map = FxHashMap::default();
            let mut leaves: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
            let mut pairs = Vec::new();
            for var in clause.vars(&terms) {
                if records.record(terms.sort_of(var)).is_some() && !kept.contains(&var) {
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
            replacement.replace_atoms(clause, |atom| expand(&atom.args, &leaves));
            replacement.note(clause.id, Origin::new(clause.id, pairs));
        }
        (!replacement.is_empty()).then(|| replacement.step(system))
    }
}

/// These variables, and the local variables that conjuncts make equal to them. Other passes
/// eliminate these locals; replaced by fields they would leave equations that stay.
fn equal_locals(
    terms: &TermStore,
    clause: &Clause,
    fixed: &FxHashSet<TermId>,
) -> FxHashSet<TermId> {
    let mut kept = fixed.clone();
    if fixed.is_empty() {
        return kept;
    }
    let arguments: FxHashSet<TermId> = clause.atoms().flat_map(|a| a.args.clone()).collect();
    let mut equal: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
    for conjunct in terms.conjuncts(clause.constraint) {
        if let Op::Eq = terms.op(conjunct)
            && let [a, b] = terms.node(conjunct).args[..]
            && terms.is_var(a)
            && terms.is_var(b)
        {
            equal.entry(a).or_default().push(b);
            equal.entry(b).or_default().push(a);
        }
    }
    let mut stack: Vec<TermId> = fixed.iter().copied().collect();
    while let Some(var) = stack.pop() {
        for &other in equal.get(&var).into_iter().flatten() {
            if !arguments.contains(&other) && kept.insert(other) {
                stack.push(other);
            }
        }
    }
    kept
}

/// The expansion of a sort.
#[derive(Clone, Copy)]
enum Shape {
    /// A variable of the sort is not expanded.
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

    // Recursive through nested sorts only; each is open at most once.
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
        } else if leaves > LIMITS.max_fields {
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
        let stem = stem(name);
        let fields: Vec<TermId> = self.terms.datatype(id).constructors[0]
            .fields
            .iter()
            .map(|f| self.build(&format!("{stem}.{}", f.selector), f.sort, leaves))
            .collect();
        self.terms.construct(id, 0, &fields)
    }

    /// The fields of a term, with the fields of nested records in place of these.
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

    /// Pushes `ite` on records and equations between records down to their fields.
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

    /// The equation field by field, if the sides are records and one of them is a constructor term.
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
