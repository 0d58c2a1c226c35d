//! Linear clauses as guarded assignments with arrays, and their instances along a path.
//!
//! A transition is a clause, or one case of it: if a choice decides which arrays are equal, each
//! alternative is a transition. An instance is the transition between two nodes of the unwinding.
//! In it each array is read through its assignment `a' = λj. G(j)` at the indexes that the
//! successor reads; the reads that are left are *cells*: variables for elements of the arrays
//! before the step.
//!
//! Invariant: an instance's formula is implied by the clause if each cell has its element as value
//! and each index variable the value of its term; no array occurs in it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use alphorn_chc::{Clause, PredicateId, System};
use alphorn_proof::{Stop, incomplete};
use alphorn_term::{Op, TermId, TermStore};
use alphorn_transform::{ArrayReader as Reader, ArrayView as View};

/// A guarded assignment.
pub(super) struct Transition {
    /// Index of the clause in its system.
    pub clause: usize,
    /// The clause with the constraint of this case.
    pub case: Clause,
    /// Definitions of arrays, and known equations of indexes.
    pub view: View,
    /// The other conjuncts.
    guards: Vec<TermId>,
    /// Pairs of arrays that are equal, but not by a definition.
    equal: Vec<(TermId, TermId)>,
    /// Pairs of arrays that differ.
    different: Vec<(TermId, TermId)>,
}

impl Transition {
    /// The predicate before the step; `None` for the initial location.
    pub fn source(&self) -> Option<PredicateId> {
        self.case.body.first().map(|atom| atom.predicate)
    }

    /// The transitions of a clause.
    ///
    /// # Errors
    /// There are too many cases, or arrays are compared below a term.
    pub fn of(system: &System, clause: usize) -> Result<Vec<Transition>, Stop> {
        let terms = &*system.terms;
        let cases = cases(terms, system.clauses[clause].constraint)
            .ok_or_else(|| incomplete("too many cases of a clause"))?;
        let mut found = Vec::with_capacity(cases.len());
        for constraint in cases {
            let mut case = system.clauses[clause].clone();
            case.constraint = constraint;
            let view = View::new(terms, &case);
            let mut transition = Transition {
                clause,
                guards: Vec::new(),
                equal: Vec::new(),
                different: Vec::new(),
                case,
                view,
            };
            for &conjunct in &transition.view.rest {
                let (atom, positive) = match terms.op(conjunct) {
                    Op::Not => (terms.args(conjunct)[0], false),
                    _ => (conjunct, true),
                };
                let args = terms.args(atom);
                match *terms.op(atom) == Op::Eq && terms.is_array(args[0]) {
                    true if positive => transition.equal.push((args[0], args[1])),
                    true => transition.different.push((args[0], args[1])),
                    false if compares_arrays(terms, conjunct) => {
                        return Err(incomplete("arrays are compared below a term"));
                    }
                    false => transition.guards.push(conjunct),
                }
            }
            found.push(transition);
        }
        Ok(found)
    }

    /// If the step has the same predicate on both sides: the positions of the body's arguments that
    /// it changes by a constant, and of those that it changes in another way.
    pub fn changes(&self, terms: &TermStore) -> Option<(Vec<usize>, Vec<usize>)> {
        let (body, head) = (self.case.body.first()?, self.case.head.as_ref()?);
        if body.predicate != head.predicate {
            return None;
        }
        let (mut counted, mut changed) = (Vec::new(), Vec::new());
        for (at, (&old, &new)) in body.args.iter().zip(&head.args).enumerate() {
            if terms.is_array(old) {
                continue;
            }
            let [old, new] = [old, new].map(|v| self.view.resolve(terms, v));
            if old == new {
                continue;
            }
            let is_number = terms.sort_of(old).is_number();
            match is_number && terms.difference(new, old).is_constant() {
                true => counted.push(at),
                false => changed.push(at),
            }
        }
        Some((counted, changed))
    }
}

/// The disjuncts of a constraint, split only at choices between equations of arrays; `None` at a
/// limit.
fn cases(terms: &TermStore, constraint: TermId) -> Option<Vec<TermId>> {
    type Goal = (TermId, bool);
    let mut open: Vec<(Vec<Goal>, Vec<TermId>)> = vec![(vec![(constraint, true)], Vec::new())];
    let mut found: Vec<TermId> = Vec::new();
    let mut parts = 0;
    while let Some((mut goals, mut done)) = open.pop() {
        parts += 1;
        if open.len() + found.len() > LIMITS.clause_cases || parts > LIMITS.constraint_parts {
            return None;
        }
        let Some((term, positive)) = goals.pop() else {
            let case = terms.and(&done);
            if case != TermId::FALSE && !found.contains(&case) {
                found.push(case);
            }
            continue;
        };
        let args = terms.args(term);
        let has_equation = || compares_arrays(terms, term);
        let mut branches: Vec<Vec<Goal>> = Vec::new();
        match terms.op(term) {
            Op::Not => branches.push(vec![(args[0], !positive)]),
            Op::And | Op::Or if (*terms.op(term) == Op::And) == positive => {
                branches.push(args.iter().rev().map(|&a| (a, positive)).collect());
            }
            Op::And | Op::Or if has_equation() => {
                branches.extend(args.iter().rev().map(|&a| vec![(a, positive)]));
            }
            Op::Ite if has_equation() => {
                branches.push(vec![(args[0], false), (args[2], positive)]);
                branches.push(vec![(args[0], true), (args[1], positive)]);
            }
            Op::Eq if !terms.is_array(args[0]) && has_equation() => {
                branches.push(vec![(args[0], false), (args[1], !positive)]);
                branches.push(vec![(args[0], true), (args[1], positive)]);
            }
            _ => {
                done.push(if positive { term } else { terms.not(term) });
                open.push((goals, done));
                continue;
            }
        }
        for branch in branches {
            let mut goals = goals.clone();
            goals.extend(branch);
            open.push((goals, done.clone()));
        }
    }
    Some(found)
}

/// Whether an equation of arrays occurs in the term.
fn compares_arrays(terms: &TermStore, term: TermId) -> bool {
    let mut found = false;
    terms.post_order(&[term], |t| {
        found |= *terms.op(t) == Op::Eq && terms.is_array(terms.args(t)[0]);
    });
    found
}

/// An element of one of the arrays of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// The array's position among the arguments.
    pub argument: usize,
    /// A value, an argument of the state, or an index variable.
    pub index: TermId,
    /// The variable for the element.
    pub var: TermId,
}

/// A state along a path: variables for the arguments, and some cells.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// The variables for the arguments, in their order.
    pub args: Vec<TermId>,
    /// The elements that are read.
    pub cells: Vec<Cell>,
}

/// A transition between two states.
pub(super) struct Instance {
    /// The transition over the variables of both states.
    pub formula: TermId,
    /// The state before.
    pub source: State,
    /// From the clause's variables to the instance's.
    pub renaming: FxHashMap<TermId, TermId>,
    /// The cells of arrays of the clause without a definition that are no arguments of the body.
    pub chosen: FxHashMap<TermId, Vec<Cell>>,
}

/// The instance of the transition into a state, from a new one.
///
/// # Errors
/// The reads are too many to be resolved, or arrays are nested.
pub(super) fn instantiate(
    terms: &TermStore,
    transition: &Transition,
    target: &State,
) -> Result<Instance, Stop> {
    let case = &transition.case;
    let body: &[TermId] = case.body.first().map_or(&[], |atom| &atom.args);
    let head: &[TermId] = case.head.as_ref().map_or(&[], |atom| &atom.args);
    let mut renaming: FxHashMap<TermId, TermId> = head
        .iter()
        .copied()
        .zip(target.args.iter().copied())
        .collect();
    for var in case.vars(terms) {
        let fresh = || terms.fresh_copy(var);
        renaming.entry(var).or_insert_with(fresh);
    }
    // An index that is an argument after the step is replaced by its term over the state before,
    // unless that is a numeral: a label about an index variable describes more states.
    let before = |index: TermId| match target.args.iter().position(|&arg| arg == index) {
        Some(at) => match transition.view.resolve(terms, head[at]) {
            term if terms.is_value(term) => index,
            term => term,
        },
        None => index,
    };
    let mut reading = Reading {
        terms,
        variables: renaming.keys().copied().collect(),
        indexes: FxHashMap::default(),
        cells: FxHashMap::default(),
        order: Vec::new(),
        is_nested: false,
    };
    for cell in &target.cells {
        let term = before(cell.index);
        if term != cell.index && !terms.is_var(term) && !terms.is_value(term) {
            reading.indexes.insert(term, cell.index);
        }
        reading.variables.insert(cell.index);
    }
    let different = transition.different.iter();
    let different: Vec<_> = different
        .map(|&(a, b)| (a, b, terms.fresh_var("k", index_sort(terms, a))))
        .collect();
    reading.variables.extend(different.iter().map(|d| d.2));
    let whole = FxHashSet::default();
    let mut reader = Reader::new(terms, &transition.view, &whole, LIMITS.read_steps);
    let too_much = |_| incomplete("too many reads of arrays to resolve");
    let mut parts = Vec::new();
    {
        let mut leaf = |array: TermId, path: &Vec<TermId>| reading.cell(array, path);
        for &guard in &transition.guards {
            parts.push(reader.plain(guard, &mut leaf).map_err(too_much)?);
        }
        for cell in &target.cells {
            let read = reader.read(head[cell.argument], &[before(cell.index)], &mut leaf);
            parts.push(terms.eq(cell.var, read.map_err(too_much)?));
        }
        for (a, b, index) in different {
            let a = reader.read(a, &[index], &mut leaf).map_err(too_much)?;
            let b = reader.read(b, &[index], &mut leaf).map_err(too_much)?;
            parts.push(terms.not(terms.eq(a, b)));
        }
    }
    // An equation of arrays is instantiated at the indexes that there are.
    for &(a, b) in &transition.equal {
        let sort = index_sort(terms, a);
        let mut indexes: Vec<TermId> = reading.indexes.keys().copied().collect();
        indexes.extend(target.cells.iter().map(|cell| before(cell.index)));
        indexes.extend(reading.order.iter().map(|(_, cell)| cell.index));
        indexes.retain(|&i| terms.sort_of(i) == sort);
        indexes.sort_unstable();
        indexes.dedup();
        let mut leaf = |array: TermId, path: &Vec<TermId>| reading.cell(array, path);
        for index in indexes {
            let a = reader.read(a, &[index], &mut leaf).map_err(too_much)?;
            let b = reader.read(b, &[index], &mut leaf).map_err(too_much)?;
            parts.push(terms.eq(a, b));
        }
    }
    if reading.is_nested {
        return Err(incomplete("arrays of arrays"));
    }
    for (&term, &index) in &reading.indexes {
        parts.push(terms.eq(term, index));
    }
    let mut source = State {
        args: body.iter().map(|v| renaming[v]).collect(),
        cells: Vec::new(),
    };
    let mut chosen: FxHashMap<TermId, Vec<Cell>> = FxHashMap::default();
    for (array, mut cell) in reading.order {
        cell.index = *renaming.get(&cell.index).unwrap_or(&cell.index);
        match body.iter().position(|&v| v == array) {
            Some(argument) => source.cells.push(Cell { argument, ..cell }),
            None => {
                let others = chosen.entry(array).or_default();
                let same = others.iter().map(|other| consistency(terms, other, &cell));
                parts.extend(same);
                others.push(cell);
            }
        }
    }
    parts.sort_unstable();
    let formula = terms.substitute(terms.and(&parts), &renaming);
    Ok(Instance {
        formula,
        source,
        renaming,
        chosen,
    })
}

/// The axioms that elements at equal indexes are equal, for all pairs of cells of an array; none if
/// there are more than `limit`.
pub(super) fn consistencies(terms: &TermStore, cells: &[Cell], limit: usize) -> Vec<TermId> {
    let mut found = Vec::new();
    for (at, a) in cells.iter().enumerate() {
        for b in cells[..at].iter().filter(|b| b.argument == a.argument) {
            let axiom = consistency(terms, b, a);
            if axiom != TermId::TRUE {
                found.push(axiom);
            }
            if found.len() > limit {
                return Vec::new();
            }
        }
    }
    found
}

/// The axiom that elements at the same index of an array are equal.
pub(super) fn consistency(terms: &TermStore, a: &Cell, b: &Cell) -> TermId {
    terms.implies(terms.eq(a.index, b.index), terms.eq(a.var, b.var))
}

/// The sort of the array's indexes.
fn index_sort(terms: &TermStore, array: TermId) -> alphorn_term::SortId {
    match terms.sort(terms.sort_of(array)) {
        alphorn_term::Sort::Array(index, _) => index,
        _ => unreachable!("the term is an array"),
    }
}

/// The reads of arrays without a definition.
struct Reading<'t> {
    terms: &'t TermStore,
    /// Variables of the clause, and indexes of the state after; as indexes they need no variable.
    variables: FxHashSet<TermId>,
    /// Other index terms, over the clause's variables, with the variable of each.
    indexes: FxHashMap<TermId, TermId>,
    /// The variable of each cell, by array and index.
    cells: FxHashMap<(TermId, TermId), TermId>,
    /// All cells in the order in which they were made, each with its array.
    order: Vec<(TermId, Cell)>,
    /// Whether an array of arrays was read.
    is_nested: bool,
}

impl Reading<'_> {
    /// The variable for the read of an array at a path of indexes.
    fn cell(&mut self, array: TermId, path: &[TermId]) -> TermId {
        let terms = self.terms;
        let element = path.iter().fold(array, |a, &i| terms.select(a, i));
        let &[term] = path else {
            self.is_nested = true;
            return element;
        };
        let index = match self.variables.contains(&term) || terms.is_value(term) {
            true => term,
            false => {
                let fresh = || terms.fresh_var("k", terms.sort_of(term));
                *self.indexes.entry(term).or_insert_with(fresh)
            }
        };
        *self.cells.entry((array, index)).or_insert_with(|| {
            let var = terms.fresh_var("cell", terms.sort_of(element));
            let argument = usize::MAX;
            self.order.push((
                array,
                Cell {
                    argument,
                    index,
                    var,
                },
            ));
            var
        })
    }
}
