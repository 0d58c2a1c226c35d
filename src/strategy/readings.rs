//! Texts with sorts without definition (`declare-sort`), by solving readings of them.
//!
//! A text is satisfiable if it is for some non-empty set of elements. It is first read with each such
//! sort as Int, which has infinitely many elements. A model then answers `sat`. A refutation may use
//! that two integers differ; if each step follows for any elements, it answers `unsat`. Otherwise it
//! refutes sets with at least as many elements as occur in it, so that smaller sets are tried, of each
//! number of elements. (The argument is that of the small model property of equality.) Without an answer
//! for Int, a set with one element is tried.
//!
//! Invariant: `sat` has a model that defines the sorts, and `unsat` a refutation whose values are
//! terms of the sorts as they are declared; both are checked against the text.

use rustc_hash::{FxHashMap, FxHashSet};

use super::solve::{Config, ConfigError, Milestone, solve_as_read};
use alphorn_chc::frontend::{Dialect, Problem, SortReading, parse_as};
use alphorn_term::run::{Context, Reason};
use alphorn_term::{Assignment, Op, Sort, SortId, TermId, TermStore};
use alphorn_witness::{Fact, Refutation, RefutationStep, Validated, Verdict, validate_candidate};

/// The most elements of a set whose smaller sets are tried.
const MAX_SIZE: u32 = 8;

/// Decides a problem that has sorts without definition.
///
/// # Errors
/// An unknown name in the configuration.
pub(super) fn solve_readings(
    problem: &Problem,
    config: &Config,
    observe: &impl Fn(Milestone),
    cx: &mut Context,
) -> Result<Validated, ConfigError> {
    if problem.dialect == Dialect::Goal {
        // A goal has to hold for all sets of elements, and a model is about one.
        let why = "goals about uninterpreted sorts are not supported: write `Int` for the sort"
            .to_owned();
        return Ok(Validated::unknown(Reason::Incomplete(why)));
    }
    let integers = vec![SortReading::Integers; problem.free_sorts.len()];
    let Some(read) = reading(problem, &integers) else {
        return Ok(other_reading());
    };
    let answer = solve_as_read(&read, config, &[], observe, cx)?;
    let Verdict::Unsat(refutation) = answer.verdict() else {
        let is_open = matches!(answer.verdict(), Verdict::Unknown(_)) && cx.stop().is_none();
        let single = vec![SortReading::Size(1); problem.free_sorts.len()];
        let Some(read) = reading(problem, &single).filter(|_| is_open) else {
            return Ok(answer);
        };
        // Where the clauses depend on values that the theories leave open, all terms of such a sort
        // may have one value.
        let of_single = solve_as_read(&read, config, &[], observe, cx)?;
        let has_model = matches!(of_single.verdict(), Verdict::Sat(_));
        return Ok(if has_model { of_single } else { answer });
    };
    let Some(refutation) = as_declared(problem, &read, refutation) else {
        return Ok(other_reading());
    };
    if let Some(found) = for_all_sets(problem, &refutation, cx) {
        return Ok(found);
    }
    log::debug!("the refutation needs different elements; smaller sets are tried");
    let sizes = sizes(problem, &refutation);
    for (number, &size) in sizes.iter().enumerate() {
        if size > MAX_SIZE {
            continue;
        }
        for smaller in 1..size {
            let mut sorts = integers.clone();
            sorts[number] = SortReading::Size(smaller);
            let Some(read) = reading(problem, &sorts) else {
                return Ok(other_reading());
            };
            let answer = solve_as_read(&read, config, &[], observe, cx)?;
            match answer.verdict() {
                Verdict::Sat(_) | Verdict::Proven(_) => return Ok(answer),
                Verdict::Unsat(refutation) => {
                    let refutation = as_declared(problem, &read, refutation);
                    let found = refutation.and_then(|r| for_all_sets(problem, &r, cx));
                    if let Some(found) = found {
                        return Ok(found);
                    }
                }
                Verdict::Unknown(_) => return Ok(answer),
            }
        }
    }
    Ok(Validated::unknown(Reason::Incomplete(
        "no refutation holds for each number of elements of the uninterpreted sorts".to_owned(),
    )))
}

fn other_reading() -> Validated {
    let why = "the text could not be read with sorts defined".to_owned();
    Validated::unknown(Reason::Incomplete(why))
}

/// The problem with these readings of its sorts; `None` if it cannot be read so.
fn reading(problem: &Problem, sorts: &[SortReading]) -> Option<Problem> {
    match parse_as(&problem.text, problem.terms.clone(), sorts) {
        Ok(read) => Some(read),
        Err(error) => {
            log::debug!("not read with sorts as {sorts:?}: {error}");
            None
        }
    }
}

/// The answer `unsat` if a refutation of a reading holds for any sets of elements.
fn for_all_sets(problem: &Problem, refutation: &Refutation, cx: &mut Context) -> Option<Validated> {
    validate_candidate(problem, Verdict::Unsat(refutation.clone()), cx)
}

/// For each sort without definition, a number of elements so that a refutation, with values of the
/// sorts as they are declared, holds for sets of at least as many.
fn sizes(problem: &Problem, refutation: &Refutation) -> Vec<u32> {
    let terms = &*problem.terms;
    let mut elements: FxHashMap<SortId, u32> = FxHashMap::default();
    let mut seen: FxHashSet<TermId> = FxHashSet::default();
    for step in &refutation.steps {
        let facts = step.fact.iter().flat_map(|fact| &fact.values);
        let mut stack: Vec<TermId> = step.values.values().chain(facts).copied().collect();
        while let Some(value) = stack.pop() {
            if seen.insert(value) {
                stack.extend(&terms.node(value).args);
                *elements.entry(terms.sort_of(value)).or_default() += 1;
            }
        }
    }
    let sorts = undefined_sorts(problem);
    let count = |sort: &SortId| elements.get(sort).copied().unwrap_or_default();
    sorts.iter().map(count).collect()
}

/// The sorts without definition, as they are declared.
fn undefined_sorts(problem: &Problem) -> Vec<SortId> {
    let terms = &problem.terms;
    let sort = |constructor: &str| {
        let mut ids = terms.datatype_ids();
        let id = ids.find(|&id| terms.datatype(id).constructors[0].name == constructor)?;
        Some(terms.datatype_sort(id))
    };
    let free = problem.free_sorts.iter();
    free.filter_map(|free| sort(&free.constructor)).collect()
}

/// A refutation of a reading with values of the sorts as they are declared.
fn as_declared(problem: &Problem, read: &Problem, refutation: &Refutation) -> Option<Refutation> {
    let mut values = AsDeclared {
        terms: &problem.terms,
        undefined: undefined_sorts(problem).into_iter().collect(),
        memo: FxHashMap::default(),
    };
    let sort_of = |var: TermId| problem.terms.sort_of(var);
    let mut steps = Vec::with_capacity(refutation.steps.len());
    for step in &refutation.steps {
        let clause = problem.clauses.get(step.clause.0 as usize)?;
        let clause_read = read.clauses.get(step.clause.0 as usize)?;
        let mut assignment = Assignment::default();
        for ((_, var), (_, var_read)) in clause.vars.iter().zip(&clause_read.vars) {
            let value = *step.values.get(var_read)?;
            assignment.insert(*var, values.value(value, sort_of(*var))?);
        }
        let fact = match &step.fact {
            None => None,
            Some(fact) => {
                let params = &problem.predicates.get(fact.predicate.index())?.params;
                let pairs = fact.values.iter().zip(params);
                let found = pairs.map(|(&value, &param)| values.value(value, sort_of(param)));
                Some(Fact {
                    predicate: fact.predicate,
                    values: found.collect::<Option<_>>()?,
                })
            }
        };
        steps.push(RefutationStep {
            clause: step.clause,
            values: assignment,
            premises: step.premises.clone(),
            fact,
        });
    }
    Some(Refutation { steps })
}

/// Turns values of a reading into values of the sorts as they are declared.
struct AsDeclared<'a> {
    terms: &'a TermStore,
    undefined: FxHashSet<SortId>,
    memo: FxHashMap<(TermId, SortId), TermId>,
}

impl AsDeclared<'_> {
    /// The value of sort `sort` for a value of the sort that is read in its place; `None` if the
    /// sorts do not fit.
    fn value(&mut self, value: TermId, sort: SortId) -> Option<TermId> {
        let root = (value, sort);
        let mut stack = vec![root];
        while let Some(&place) = stack.last() {
            if self.memo.contains_key(&place) {
                stack.pop();
                continue;
            }
            let parts = self.parts(place)?;
            let missing = parts.iter().filter(|part| !self.memo.contains_key(part));
            let before = stack.len();
            stack.extend(missing.copied().collect::<Vec<_>>());
            if stack.len() == before {
                let parts: Vec<TermId> = parts.iter().map(|part| self.memo[part]).collect();
                let found = self.rebuilt(place, &parts)?;
                self.memo.insert(place, found);
                stack.pop();
            }
        }
        self.memo.get(&root).copied()
    }

    /// The parts of a value with the sorts that they are to have.
    fn parts(&self, (value, sort): (TermId, SortId)) -> Option<Vec<(TermId, SortId)>> {
        let terms = self.terms;
        if terms.sort_of(value) == sort || self.undefined.contains(&sort) {
            return Some(Vec::new());
        }
        let args = terms.node(value).args.iter().copied();
        let sorts: Vec<SortId> = match (terms.op(value), terms.sort(sort)) {
            (Op::ConstArray, Sort::Array(_, element)) => vec![element],
            (Op::Store, Sort::Array(index, element)) => vec![sort, index, element],
            (Op::Construct(_, number), Sort::Datatype(id)) => {
                let constructor = terms.datatype(id).constructors.get(*number as usize)?;
                constructor.fields.iter().map(|field| field.sort).collect()
            }
            _ => return None,
        };
        Some(args.zip(sorts).collect())
    }

    fn rebuilt(&self, (value, sort): (TermId, SortId), parts: &[TermId]) -> Option<TermId> {
        let terms = self.terms;
        if terms.sort_of(value) == sort {
            return Some(value);
        }
        match (terms.op(value), terms.sort(sort), parts) {
            // The element of a set of some size, by its number, or an integer.
            (Op::Construct(_, number), Sort::Datatype(id), _) if self.undefined.contains(&sort) => {
                Some(terms.construct(id, 0, &[terms.int(*number)]))
            }
            (_, Sort::Datatype(id), _) if self.undefined.contains(&sort) => {
                Some(terms.construct(id, 0, &[value]))
            }
            (Op::ConstArray, _, &[element]) => Some(terms.const_array(sort, element)),
            (Op::Store, _, &[array, index, element]) => Some(terms.store(array, index, element)),
            (Op::Construct(_, number), Sort::Datatype(id), fields) => {
                Some(terms.construct(id, *number, fields))
            }
            _ => None,
        }
    }
}
