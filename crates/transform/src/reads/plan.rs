//! Which elements of each array argument are needed, by a backward analysis from what constraints
//! read.
//!
//! Invariant: a plan is closed. What a clause reads of a planned argument of its body, for its
//! constraint or for a planned element of its head, is an element in the plan of that argument.

use std::collections::VecDeque;

use num_traits::One;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::{Place, isolate};
use super::limits::LIMITS;
use super::reader::{Exhausted, Path, Reader, select};
use super::view::{View, is_index};
use alphorn_chc::{Clause, ClauseIndex, PredicateId, System};
use alphorn_term::run::Context;
use alphorn_term::{SortId, TermId, TermStore};

/// The elements that are needed of the arguments to be replaced.
pub(super) struct Plan {
    /// Paths over the predicate's formal variables.
    pub elements: FxHashMap<Place, Vec<Path>>,
    /// For each clause with arrays among its atoms' arguments, its analysis.
    pub clauses: Vec<Option<Planned>>,
}

/// The analysis of a clause.
pub(super) struct Planned {
    /// The clause's arrays and indexes.
    pub view: View,
    /// Array variables that are not replaced.
    pub whole: FxHashSet<TermId>,
    /// For each body atom, terms over the formal variables that equal variables of the clause.
    formal: Vec<FxHashMap<TermId, TermId>>,
}

impl Planned {
    fn new(system: &System, clause: &Clause) -> Planned {
        let terms = &*system.terms;
        let view = View::new(terms, clause);
        let formal = clause
            .body
            .iter()
            .map(|atom| {
                let params = &system.predicate(atom.predicate).params;
                formal_terms(terms, &view, &atom.args, params)
            })
            .collect();
        Planned {
            view,
            whole: FxHashSet::default(),
            formal,
        }
    }

    /// A resolved path over the formal variables of a body atom's predicate.
    pub fn express(&self, terms: &TermStore, atom: usize, path: &[TermId]) -> Option<Path> {
        let formal = &self.formal[atom];
        let expressed = path.iter().map(|&index| {
            let good = is_index(terms, index)
                && terms
                    .free_vars(&[index])
                    .iter()
                    .all(|v| formal.contains_key(v));
            good.then(|| terms.substitute(index, formal))
        });
        expressed
            .collect::<Option<Path>>()
            .filter(|p| p.len() <= LIMITS.max_path_length)
    }
}

/// For variables of the clause, equal terms over the formal variables.
fn formal_terms(
    terms: &TermStore,
    view: &View,
    args: &[TermId],
    params: &[TermId],
) -> FxHashMap<TermId, TermId> {
    let mut formal = FxHashMap::default();
    let mut sums = Vec::new();
    for (&arg, &param) in args.iter().zip(params) {
        if terms.is_array(arg) {
            continue;
        }
        let resolved = view.resolve(terms, arg);
        if terms.is_var(resolved) {
            formal.entry(resolved).or_insert(param);
        } else {
            sums.push((resolved, param));
        }
    }
    for (sum, param) in sums {
        let sort = terms.sort_of(sum);
        if sort != SortId::INT && sort != SortId::REAL {
            continue;
        }
        if let [(var, factor)] = &terms.linear(sum).monomials[..]
            && factor.is_one()
            && terms.is_var(*var)
            && let Some(term) = isolate::definition(terms, terms.eq(sum, param), *var)
        {
            formal.entry(*var).or_insert(term);
        }
    }
    formal
}

/// What a clause needs of its body.
struct Needs {
    elements: Vec<(Place, Path)>,
    wholes: Vec<Place>,
}

struct Planner<'a> {
    system: &'a System,
    clauses: Vec<Option<Planned>>,
    elements: FxHashMap<Place, Vec<Path>>,
    wholes: FxHashSet<Place>,
    fuel: usize,
}

/// A plan for the system; `None` if all arrays are kept, or a limit is reached.
pub(super) fn plan(system: &System, cx: &Context) -> Option<Plan> {
    let terms = &*system.terms;
    let arrays = |clause: &Clause| {
        let mut args = clause.atoms().flat_map(|a| &a.args);
        args.any(|&a| terms.is_array(a))
    };
    let mut clauses = Vec::with_capacity(system.clauses.len());
    for clause in &system.clauses {
        if cx.stop().is_some() {
            return None;
        }
        clauses.push(arrays(clause).then(|| Planned::new(system, clause)));
    }
    if clauses.iter().all(Option::is_none) {
        return None;
    }
    let mut planner = Planner {
        system,
        clauses,
        elements: FxHashMap::default(),
        wholes: FxHashSet::default(),
        fuel: LIMITS.max_steps,
    };
    for _ in 0..LIMITS.max_rounds {
        let before = planner.wholes.len();
        planner.elements.clear();
        if planner.close(cx).is_err() {
            log::debug!("reads: a limit is reached, or the budget has ended");
            return None;
        }
        if planner.wholes.len() == before {
            break;
        }
    }
    planner.finish()
}

impl Planner<'_> {
    /// Adds what is needed until nothing is missing.
    fn close(&mut self, cx: &Context) -> Result<(), Exhausted> {
        let clauses = ClauseIndex::new(self.system);
        let has_arrays: Vec<bool> = self.clauses.iter().map(Option::is_some).collect();
        let mut queued = has_arrays.clone();
        let mut queue: VecDeque<usize> = (0..queued.len()).filter(|&i| queued[i]).collect();
        while let Some(index) = queue.pop_front() {
            queued[index] = false;
            if cx.stop().is_some() {
                return Err(Exhausted);
            }
            let needs = self.needs(index)?;
            let mut changed: Vec<PredicateId> = Vec::new();
            for (place, path) in needs.elements {
                if self.wholes.contains(&place) {
                    continue;
                }
                let list = self.elements.entry(place).or_default();
                if list.contains(&path) {
                    continue;
                }
                list.push(path);
                changed.push(place.0);
                let terms = &self.system.terms;
                let symbolic = |p: &&Path| !p.iter().all(|&i| terms.is_value(i));
                if list.len() > LIMITS.max_elements
                    || list.iter().filter(symbolic).count() > LIMITS.max_symbolic_elements
                {
                    self.wholes.insert(place);
                }
            }
            for place in needs.wholes {
                if self.wholes.insert(place) {
                    changed.push(place.0);
                }
            }
            for predicate in changed {
                for &user in clauses.deriving(predicate) {
                    if has_arrays[user] && !queued[user] {
                        queued[user] = true;
                        queue.push_back(user);
                    }
                }
            }
        }
        Ok(())
    }

    /// What a clause needs, given what is needed of its head.
    fn needs(&mut self, index: usize) -> Result<Needs, Exhausted> {
        let system = self.system;
        let terms = &*system.terms;
        let clause = &system.clauses[index];
        let planned = self.clauses[index].as_mut().expect("a clause with arrays");
        for atom in clause.atoms() {
            for (i, &arg) in atom.args.iter().enumerate() {
                if self.wholes.contains(&(atom.predicate, i)) {
                    planned.whole.insert(arg);
                }
            }
        }
        loop {
            let mut reader = Reader::new(terms, &planned.view, &planned.whole, self.fuel);
            let mut leaf = |var: TermId, path: &Path| select(terms, var, path);
            for &conjunct in &planned.view.rest {
                reader.plain(conjunct, &mut leaf)?;
            }
            for definition in &planned.view.definitions {
                if planned.whole.contains(&definition.var) {
                    reader.plain(definition.term, &mut leaf)?;
                }
            }
            if let Some(head) = &clause.head {
                let map = actual(system, clause);
                for (i, &arg) in head.args.iter().enumerate() {
                    let place = (head.predicate, i);
                    if self.wholes.contains(&place) {
                        continue;
                    }
                    for path in self.elements.get(&place).into_iter().flatten() {
                        let path: Path = path.iter().map(|&p| terms.substitute(p, &map)).collect();
                        reader.read(arg, &path, &mut leaf)?;
                    }
                }
            }
            self.fuel = reader.fuel;
            let mut more: Vec<TermId> = reader.met.iter().copied().collect();
            let mut elements = Vec::new();
            let mut free: FxHashMap<TermId, usize> = FxHashMap::default();
            for (var, path) in &reader.leaves {
                match planned.view.body.get(var) {
                    Some(&(atom, position)) => match planned.express(terms, atom, path) {
                        Some(path) => {
                            let place = (clause.body[atom].predicate, position);
                            elements.push((place, path));
                        }
                        None => more.push(*var),
                    },
                    None => {
                        let count = free.entry(*var).or_default();
                        *count += 1;
                        if *count > LIMITS.max_free_elements || path.len() > LIMITS.max_path_length
                        {
                            more.push(*var);
                        }
                    }
                }
            }
            let before = planned.whole.len();
            planned.whole.extend(more);
            if planned.whole.len() > before {
                continue;
            }
            let body = planned.view.body.iter();
            let wholes = body
                .filter(|(var, _)| planned.whole.contains(var))
                .map(|(_, &(atom, position))| (clause.body[atom].predicate, position));
            return Ok(Needs {
                elements,
                wholes: wholes.collect(),
            });
        }
    }

    fn finish(self) -> Option<Plan> {
        let terms = &self.system.terms;
        let mut elements = FxHashMap::default();
        for predicate in self.system.used_predicates() {
            let params = &self.system.predicate(predicate).params;
            let mut arity = params.len();
            for (i, &param) in params.iter().enumerate() {
                let place = (predicate, i);
                if terms.is_array(param) && !self.wholes.contains(&place) {
                    let own = self.elements.get(&place).cloned().unwrap_or_default();
                    arity += own.len();
                    elements.insert(place, own);
                }
            }
            if arity > LIMITS.max_arity.max(params.len()) {
                return None;
            }
        }
        (!elements.is_empty()).then_some(Plan {
            elements,
            clauses: self.clauses,
        })
    }
}

/// The head's arguments by the formal variables of its predicate.
pub(super) fn actual(system: &System, clause: &Clause) -> FxHashMap<TermId, TermId> {
    let pairs = clause.head.iter().flat_map(|head| {
        let params = system.predicate(head.predicate).params.iter().copied();
        params.zip(head.args.iter().copied())
    });
    pairs.collect()
}
