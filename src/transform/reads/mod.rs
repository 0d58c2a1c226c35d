//! Arrays of which only few elements are needed become these elements.
//!
//! What a constraint reads of an argument of its body is needed there; and what is needed of the
//! head is read through the stores of the clause, down to the arguments of the body. So it is found
//! out backwards which elements of each argument matter, at indexes that are terms over the other
//! arguments: constants, or a pointer that is passed on unchanged, at any depth in arrays of
//! arrays. Where these are few the array goes and a scalar comes for each; where there is no end to
//! them, or an array is compared as a whole, it stays. An array that is only written goes without
//! anything in its place. Other than [`super::Cells`], indexes need not be constants, writes may be
//! anywhere, and predicates differ in what they keep.
//!
//! Why this is exact: a model of the new system, read at the indexes, is one of the old. In a
//! derivation of the new system the arrays can be computed bottom-up, as the equations that define
//! an array are kept for this; one that nothing defines holds what was read of it, and elements read
//! at equal indexes are equal by a condition that the clause gets.

mod plan;
mod reader;
mod view;

use std::borrow::Cow;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use self::plan::{Plan, Planned, actual, plan};
use self::reader::{Path, Reader, select};
use super::replay::{OldStep, replay};
use super::{BackError, BackTranslation, Step, TransformError, Transformation, complete_model};
use crate::chc::{Atom, Clause, ClauseId, PredicateId, System};
use crate::run::Context;
use crate::term::{Assignment, Evaluator, Sort, SortId, TermId, TermStore};
use crate::witness::{Model, Refutation};

/// The pass.
pub struct Reads;

impl Transformation for Reads {
    fn name(&self) -> &'static str {
        "reads"
    }

    fn apply(&self, system: System, cx: &mut Context) -> Result<Step, TransformError> {
        let old = Rc::new(system);
        let made = plan(&old, cx).and_then(|plan| rewrite(&old, &plan, cx));
        Ok(match made {
            Some((system, back)) => Step {
                system,
                back: Box::new(back),
                changed: true,
            },
            None => Step {
                system: (*old).clone(),
                back: Box::new(super::Unchanged),
                changed: false,
            },
        })
    }
}

/// A predicate that took another's place.
struct Replaced {
    old: PredicateId,
    new: PredicateId,
    /// The new formal variables in terms of the old ones.
    meanings: FxHashMap<TermId, TermId>,
}

/// How the arrays of a clause come back.
struct Arrays {
    /// By evaluation, in this order.
    definitions: Vec<(TermId, TermId)>,
    /// Those that nothing defines, with what was read of them.
    free: Vec<(TermId, Vec<(Path, TermId)>)>,
}

struct Back {
    old: Rc<System>,
    replaced: Vec<Replaced>,
    arrays: FxHashMap<ClauseId, Arrays>,
}

fn rewrite(old: &Rc<System>, plan: &Plan, cx: &Context) -> Option<(System, Back)> {
    let terms = old.terms.clone();
    let mut system = (**old).clone();
    let mut replaced: Vec<Replaced> = Vec::new();
    let mut places: FxHashMap<PredicateId, PredicateId> = FxHashMap::default();
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
        let sorts: Vec<SortId> = meanings.iter().map(|&m| terms.sort_of(m)).collect();
        let name = old.predicate(predicate).name.clone();
        let new = system.add_predicate(&name, &sorts);
        let params = system.predicate(new).params.iter().copied();
        replaced.push(Replaced {
            old: predicate,
            new,
            meanings: params.zip(meanings).collect(),
        });
        places.insert(predicate, new);
    }
    let mut arrays = FxHashMap::default();
    for (index, clause) in system.clauses.iter_mut().enumerate() {
        if !clause.atoms().any(|a| places.contains_key(&a.predicate)) {
            continue;
        }
        if cx.stop().is_some() {
            return None;
        }
        let own = match &plan.clauses[index] {
            Some(planned) => {
                let rewriter = Rewriter {
                    terms: &terms,
                    old,
                    plan,
                    planned,
                };
                rewriter.clause(clause, &places)?
            }
            None => return None,
        };
        arrays.insert(clause.id, own);
    }
    let back = Back {
        old: old.clone(),
        replaced,
        arrays,
    };
    Some((system, back))
}

struct Rewriter<'a> {
    terms: &'a TermStore,
    old: &'a System,
    plan: &'a Plan,
    planned: &'a Planned,
}

impl Rewriter<'_> {
    /// Rewrites a clause of the old system; `None` if the plan lacks something.
    fn clause(
        &self,
        clause: &mut Clause,
        places: &FxHashMap<PredicateId, PredicateId>,
    ) -> Option<Arrays> {
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
        let mut definitions = Vec::new();
        for definition in &view.definitions {
            if whole.contains(&definition.var) {
                let term = reader.plain(definition.term, &mut leaf).ok()?;
                conjuncts.push(terms.eq(definition.var, term));
            } else {
                definitions.push((definition.var, definition.term));
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
        for atom in clause.body.iter_mut().chain(&mut clause.head) {
            if let Some(&new) = places.get(&atom.predicate) {
                let args = atom.args.iter().flat_map(|arg| match cells.get(arg) {
                    Some(own) => own.clone(),
                    None => vec![*arg],
                });
                *atom = Atom {
                    predicate: new,
                    args: args.collect(),
                };
            }
        }
        Some(Arrays { definitions, free })
    }

    /// A variable for an element of an array.
    fn fresh(&self, array: TermId, depth: usize) -> TermId {
        let mut sort = self.terms.sort_of(array);
        for _ in 0..depth {
            if let Sort::Array(_, element) = self.terms.sort(sort) {
                sort = element;
            }
        }
        let name = self.terms.var_name(array);
        let stem = name.split('!').next().unwrap_or(name);
        self.terms.fresh_var(&format!("{stem}.cell"), sort)
    }

    /// What is read of one array at equal indexes is equal.
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

impl BackTranslation for Back {
    fn model(&self, mut model: Model, _cx: &mut Context) -> Result<Model, BackError> {
        let terms = &self.old.terms;
        for replaced in &self.replaced {
            if let Some(formula) = model.definitions.remove(&replaced.new) {
                let formula = terms.substitute(formula, &replaced.meanings);
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
        replay("reads", &self.old, &refutation, cx, |step| {
            let Some(arrays) = self.arrays.get(&step.clause) else {
                return Ok(Vec::new());
            };
            let mut known = step.values.clone();
            for (var, elements) in &arrays.free {
                if let Some(value) = built(terms, *var, elements, &step.values) {
                    known.insert(*var, value);
                }
            }
            let mut old = OldStep::same(step, &arrays.definitions);
            old.known = Cow::Owned(known);
            Ok(vec![old])
        })
    }
}

/// The array that holds these elements, by the values of the clause's variables.
fn built(
    terms: &TermStore,
    var: TermId,
    elements: &[(Path, TermId)],
    values: &Assignment,
) -> Option<TermId> {
    let mut all = values.clone();
    let mentioned: Vec<TermId> = elements
        .iter()
        .flat_map(|(p, e)| p.iter().chain([e]))
        .copied()
        .collect();
    for free in terms.free_vars(&mentioned) {
        // What the new clause does not mention is free.
        if let Some(value) = terms.default_value(terms.sort_of(free)) {
            all.entry(free).or_insert(value);
        }
    }
    let mut evaluator = Evaluator::new(terms, &all);
    let mut entries: Vec<(Path, TermId)> = Vec::with_capacity(elements.len());
    for (path, element) in elements {
        let path = path.iter().map(|&i| evaluator.value(i));
        entries.push((path.collect::<Option<Path>>()?, evaluator.value(*element)?));
    }
    // Whole elements before what is inside of them.
    entries.sort_by_key(|e| e.0.len());
    let mut array = terms.default_value(terms.sort_of(var))?;
    for (path, element) in entries {
        // From the inside out: each array on the way with what comes below.
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
    terms.is_value(array).then_some(array)
}
