//! Replaces arrays of which few elements are needed by these elements.
//!
//! What a constraint reads of a body argument is needed, and what is needed of the head is read
//! through the stores of the clause, down to the arguments of the body. So a backward analysis
//! finds which elements of each argument are needed, at indexes that are terms over the other
//! arguments: constants, or a pointer that is passed on unchanged, at any depth in arrays of
//! arrays. If these are few, the array is replaced by a scalar for each; if there are too many, or
//! if an array is compared as a whole, it is kept. An array that is only written is removed. In
//! contrast to `cells`, indexes need not be constant, writes may be anywhere, and predicates may
//! keep different elements.
//!
//! Invariant: a model of the new system, read at the indexes, is a model of the old one. In a
//! derivation of the new system the arrays can be computed bottom-up, since the equations that
//! define an array are kept for this. An array that nothing defines has the elements that were read
//! of it, and the clause gets a condition that elements at equal indexes are equal.

mod limits;
mod plan;
mod reader;
mod view;

pub use self::reader::Reader;
pub use self::view::View;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use self::plan::{Plan, Planned, actual, plan};
use self::reader::{Path, select};
use super::replacement::{Origin, Replacement, expand};
use super::{Step, Transformation, part_var};
use alphorn_chc::{Atom, Clause, System};
use alphorn_term::run::Context;
use alphorn_term::{Sort, SortId, TermId, TermStore};

/// The pass.
pub struct Reads;

impl Transformation for Reads {
    fn apply(&mut self, old: &Rc<System>, cx: &mut Context) -> Option<Step> {
        let plan = plan(old, cx)?;
        let terms = old.terms.clone();
        let mut system = (**old).clone();
        let mut replacement = Replacement::new(old);
        for predicate in old.used_predicates() {
            let params = &old.predicate(predicate).params;
            let planned = |i: usize| plan.elements.get(&(predicate, i));
            if (0..params.len()).all(|i| planned(i).is_none()) {
                continue;
            }
            let mut meanings = Vec::with_capacity(params.len());
            for (i, &param) in params.iter().enumerate() {
                match planned(i) {
                    Some(paths) => meanings.extend(paths.iter().map(|p| select(&terms, param, p))),
                    None => meanings.push(param),
                }
            }
            replacement.replace_by_terms(&mut system, predicate, meanings);
        }
        for (clause, planned) in system.clauses.iter_mut().zip(&plan.clauses) {
            let replaced = |a: &Atom| replacement.image(a.predicate).is_some();
            if !clause.atoms().any(replaced) {
                continue;
            }
            if cx.stop().is_some() {
                return None;
            }
            let rewriter = Rewriter {
                terms: &terms,
                old,
                plan: &plan,
                planned: planned.as_ref()?,
            };
            let definitions = rewriter.clause(clause, &replacement)?;
            replacement.note(clause.id, Origin::new(clause.id, definitions));
        }
        Some(replacement.step(system))
    }
}

struct Rewriter<'a> {
    terms: &'a TermStore,
    old: &'a System,
    plan: &'a Plan,
    planned: &'a Planned,
}

impl Rewriter<'_> {
    /// Rewrites a clause of the old system, and defines its arrays by the elements; `None` if an
    /// element is missing in the plan.
    fn clause(
        &self,
        clause: &mut Clause,
        replacement: &Replacement,
    ) -> Option<Vec<(TermId, TermId)>> {
        let terms = self.terms;
        let view = &self.planned.view;
        let whole = &self.planned.whole;
        let mut cells: FxHashMap<TermId, Vec<TermId>> = FxHashMap::default();
        for atom in clause.atoms() {
            for (i, &arg) in atom.args.iter().enumerate() {
                if let Some(paths) = self.plan.elements.get(&(atom.predicate, i)) {
                    let fresh = paths.iter().map(|path| self.fresh(arg, path.len()));
                    cells.insert(arg, fresh.collect());
                }
            }
        }
        let mut free: Vec<(TermId, Vec<(Path, TermId)>)> = Vec::new();
        let mut complete = true;
        let mut leaf = |var: TermId, path: &Path| {
            let Some(&(atom, position)) = view.body.get(&var) else {
                let element = self.fresh(var, path.len());
                match free.iter_mut().find(|f| f.0 == var) {
                    Some(list) => list.1.push((path.clone(), element)),
                    None => free.push((var, vec![(path.clone(), element)])),
                }
                return element;
            };
            let place = (clause.body[atom].predicate, position);
            let at = self.planned.express(terms, atom, path).and_then(|path| {
                let paths = self.plan.elements.get(&place)?;
                paths.iter().position(|p| *p == path)
            });
            match at {
                Some(at) => cells[&var][at],
                None => {
                    complete = false;
                    select(terms, var, path)
                }
            }
        };
        let mut reader = Reader::new(terms, view, whole, usize::MAX);
        let mut conjuncts = Vec::new();
        for &conjunct in &view.rest {
            conjuncts.push(reader.plain(conjunct, &mut leaf).ok()?);
        }
        let mut defined = Vec::new();
        for definition in &view.definitions {
            if whole.contains(&definition.var) {
                let term = reader.plain(definition.term, &mut leaf).ok()?;
                conjuncts.push(terms.eq(definition.var, term));
            } else {
                defined.push((definition.var, definition.term));
            }
        }
        if let Some(head) = &clause.head {
            let map = actual(self.old, clause);
            for (i, arg) in head.args.iter().enumerate() {
                let paths = self.plan.elements.get(&(head.predicate, i));
                for (at, path) in paths.into_iter().flatten().enumerate() {
                    let path: Path = path.iter().map(|&p| terms.substitute(p, &map)).collect();
                    let element = reader.read(*arg, &path, &mut leaf).ok()?;
                    conjuncts.push(terms.eq(cells[arg][at], element));
                }
            }
        }
        let unplanned = reader.met.iter().any(|v| !whole.contains(v));
        if !complete || unplanned {
            log::error!("reads: an element of clause {} is missing", clause.id.0);
            return None;
        }
        for (_, elements) in &free {
            self.agree(elements, &mut conjuncts);
        }
        clause.constraint = terms.and(&conjuncts);
        replacement.replace_atoms(clause, |atom| expand(&atom.args, &cells));
        let mut definitions = Vec::with_capacity(free.len() + defined.len());
        for (var, elements) in free {
            definitions.push((var, holding(terms, terms.sort_of(var), elements)?));
        }
        definitions.append(&mut defined);
        Some(definitions)
    }

    /// A fresh variable for an element of an array.
    fn fresh(&self, array: TermId, depth: usize) -> TermId {
        let mut sort = self.terms.sort_of(array);
        for _ in 0..depth {
            if let Sort::Array(_, element) = self.terms.sort(sort) {
                sort = element;
            }
        }
        part_var(self.terms, array, "cell", sort)
    }

    /// Elements of one array that are read at equal indexes are equal.
    fn agree(&self, elements: &[(Path, TermId)], conjuncts: &mut Vec<TermId>) {
        let terms = self.terms;
        for (i, (first, a)) in elements.iter().enumerate() {
            for (second, b) in &elements[i + 1..] {
                let ((short, outer), (long, inner)) = if first.len() <= second.len() {
                    ((first, a), (second, b))
                } else {
                    ((second, b), (first, a))
                };
                let pairs = short.iter().zip(long);
                let same: Vec<TermId> = pairs
                    .map(|(&x, &y)| self.planned.view.equal(terms, x, y))
                    .collect();
                let inside = select(terms, *outer, &long[short.len()..]);
                conjuncts.push(terms.implies(terms.and(&same), terms.eq(inside, *inner)));
            }
        }
    }
}

/// An array that has these elements at these paths, and any elements elsewhere.
fn holding(terms: &TermStore, sort: SortId, mut elements: Vec<(Path, TermId)>) -> Option<TermId> {
    // Shorter paths first, since elements at longer paths are inside of them.
    elements.sort_by_key(|e| e.0.len());
    let mut array = terms.default_value(sort)?;
    for (path, element) in elements {
        // Updates the nested arrays from the inside out.
        let mut outer = vec![array];
        for &index in &path[..path.len() - 1] {
            outer.push(terms.select(*outer.last().expect("the array"), index));
        }
        let mut value = element;
        for (&index, whole) in path.iter().zip(outer).rev() {
            value = terms.store(whole, index, value);
        }
        array = value;
    }
    Some(array)
}
