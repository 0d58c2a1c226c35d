//! Backward execution of queries from small inputs, for recursive functions that are written as
//! relations of inputs and outputs.
//!
//! A few variables of a query get values. A body atom of which some arguments are known is a call:
//! a clause for its predicate is executed as far as its equations allow, and its atoms are called
//! in any order in which each call can be answered, until all variables are known. Simulation from
//! the entry clauses rarely reaches a function's result for a given input where an output is the
//! input of another call, as with accumulators. Programs are tested on small inputs in the same way
//! (Marinov, Andoni, Daniliuc, Khurshid, Rinard, "An Evaluation of Exhaustive Testing for Data
//! Structures", MIT 2003).
//!
//! Invariant: an answer to a call is a derived fact. A call without an answer means nothing: the
//! first answer counts, and unclear calls are given up.

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::LIMITS;
use super::simulation::{Execution, Simulation};
use alphorn_chc::{ClauseIndex, PredicateId};
use alphorn_term::run::Budget;
use alphorn_term::{Assignment, BigUint, Rational, Sort, SortId, TermId};
use alphorn_witness::Refutation;

/// A predicate, and its arguments with the known values.
type Call = (PredicateId, Vec<Option<TermId>>);

/// The predicate of a call, and for each argument whether it is known.
type Mode = (PredicateId, Vec<bool>);

/// The result of a call.
#[derive(Clone, Copy)]
enum Answer {
    /// The position of a fact.
    Fact(usize),
    /// No clause allows one.
    Fails,
    /// Too few arguments are known, or calls are nested too deep.
    Unclear,
}

/// Which inputs are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inputs {
    /// Small values of up to several variables.
    Small,
    /// Many values of a single variable.
    Sweep,
}

/// The answers to calls.
#[derive(Default)]
pub(super) struct Answers {
    /// The answer to each call.
    known: FxHashMap<Call, Answer>,
    /// The number of calls that a fact answered.
    facts: u64,
    /// Queries and single inputs from which facts answered calls. Only these are swept: if all
    /// inputs are refuted at once, there is no function to execute.
    productive: FxHashSet<(usize, TermId)>,
    /// Modes of unclear calls; further calls in these modes are unclear, too.
    unclear: FxHashSet<Mode>,
    /// The number of open calls.
    depth: usize,
}

impl Simulation<'_> {
    /// Executes the queries. Returns a refutation if one is found. The facts that are derived
    /// become states of the simulation; they are no random sample.
    pub fn execute_queries(
        &mut self,
        inputs: Inputs,
        answers: &mut Answers,
        budget: &Budget,
    ) -> Option<Refutation> {
        let index = self.index.clone();
        let queries = index.queries().iter();
        queries
            .filter(|&&query| !self.system.clauses[query].body.is_empty())
            .find_map(|&query| self.execute_query(query, inputs, &index, answers, budget))
    }

    /// Executes a query for sets of inputs.
    fn execute_query(
        &mut self,
        query: usize,
        inputs: Inputs,
        index: &ClauseIndex,
        answers: &mut Answers,
        budget: &Budget,
    ) -> Option<Refutation> {
        let mut known = Assignment::default();
        let mut open = self.all_parts(query);
        if !self.propagate(query, &mut known, &mut open) {
            return None;
        }
        let body = &self.system.clauses[query].body;
        let args = body.iter().flat_map(|atom| &atom.args).copied();
        let mut unknown: Vec<TermId> = args.filter(|arg| !known.contains_key(arg)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        // Sets of inputs from which execution was decided; larger sets are not tried.
        let mut enough: Vec<Vec<TermId>> = Vec::new();
        for set in subsets(&unknown) {
            if enough.iter().any(|e| e.iter().all(|v| set.contains(v))) {
                continue;
            }
            let productive = |input: &TermId| answers.productive.contains(&(query, *input));
            let side = match inputs {
                Inputs::Sweep if set.len() > 1 => break,
                Inputs::Sweep if !set.iter().all(productive) => continue,
                Inputs::Sweep => LIMITS.sweep_inputs,
                Inputs::Small => (1..)
                    .take_while(|n: &u64| n.pow(set.len() as u32) <= LIMITS.input_combinations)
                    .last()
                    .unwrap_or(1),
            };
            let facts = answers.facts;
            for at in 0..side.pow(set.len() as u32) {
                let mut rest = at;
                let mut start = known.clone();
                for &input in &set {
                    start.insert(input, self.input(input, rest % side)?);
                    rest /= side;
                }
                match self.execute_clause(query, start, index, answers, budget) {
                    Execution::Ends(values, premises) => {
                        let last = self.step(query, values, premises);
                        return Some(self.refutation(last));
                    }
                    Execution::Open if at == 0 || inputs == Inputs::Sweep => break,
                    Execution::Open | Execution::Fails => {}
                }
                if at == 0 {
                    enough.push(set.clone());
                }
                if budget.is_spent() {
                    return None;
                }
            }
            if let [input] = *set
                && answers.facts > facts
            {
                answers.productive.insert((query, input));
            }
        }
        None
    }

    /// The value of the variable's sort for a small number.
    fn input(&self, var: TermId, number: u64) -> Option<TermId> {
        let terms = &self.system.terms;
        match terms.sort_of(var) {
            SortId::BOOL => Some(terms.bool(number % 2 == 1)),
            sort if sort.is_number() => {
                Some(terms.number(&Rational::from_integer(number.into()), sort))
            }
            sort => match terms.sort(sort) {
                Sort::BitVec(width) => Some(terms.bitvec(BigUint::from(number), width)),
                _ => None,
            },
        }
    }

    /// Executes a clause: the values of its variables, and its premises, if these are determined.
    fn execute_clause(
        &mut self,
        clause: usize,
        mut known: Assignment,
        index: &ClauseIndex,
        answers: &mut Answers,
        budget: &Budget,
    ) -> Execution {
        let system = self.system;
        let of_clause = &system.clauses[clause];
        let mut open = self.all_parts(clause);
        let mut premises: Vec<Option<usize>> = vec![None; of_clause.body.len()];
        loop {
            if !self.propagate(clause, &mut known, &mut open) {
                return Execution::Fails;
            }
            let mut waiting = (0..premises.len()).filter(|&at| premises[at].is_none());
            let answered = waiting.find_map(|at| {
                let atom = &of_clause.body[at];
                let args = atom.args.iter().map(|arg| known.get(arg).copied());
                match self.call((atom.predicate, args.collect()), index, answers, budget) {
                    Answer::Unclear => None,
                    Answer::Fails => Some((at, None)),
                    Answer::Fact(fact) => {
                        answers.facts += 1;
                        Some((at, Some(fact)))
                    }
                }
            });
            match answered {
                None => break,
                Some((_, None)) => return Execution::Fails,
                Some((at, Some(fact))) => {
                    premises[at] = Some(fact);
                    let values = self.states[fact].fact.iter().flat_map(|f| &f.values);
                    for (&arg, &value) in of_clause.body[at].args.iter().zip(values) {
                        if *known.entry(arg).or_insert(value) != value {
                            return Execution::Fails;
                        }
                    }
                }
            }
        }
        let Some(premises) = premises.into_iter().collect() else {
            return Execution::Open;
        };
        if !open.is_empty() {
            return Execution::Open;
        }
        // A variable without constraints may have any value.
        for var in of_clause.vars(&system.terms) {
            let Some(value) = system.terms.default_value(system.terms.sort_of(var)) else {
                return Execution::Open;
            };
            known.entry(var).or_insert(value);
        }
        Execution::Ends(known, premises)
    }

    /// Answers a call.
    fn call(
        &mut self,
        call: Call,
        index: &ClauseIndex,
        answers: &mut Answers,
        budget: &Budget,
    ) -> Answer {
        if let Some(&answer) = answers.known.get(&call) {
            return answer;
        }
        let mode: Mode = (call.0, call.1.iter().map(Option::is_some).collect());
        if !mode.1.contains(&true) || answers.unclear.contains(&mode) || budget.is_spent() {
            return Answer::Unclear;
        }
        if answers.depth >= LIMITS.call_depth {
            answers.unclear.insert(mode);
            return Answer::Unclear;
        }
        // A call within itself is unclear.
        answers.known.insert(call.clone(), Answer::Unclear);
        answers.depth += 1;
        let mut answer = Answer::Fails;
        for &clause in index.deriving(call.0) {
            let head = self.system.clauses[clause].head.as_ref();
            let mut known = Assignment::default();
            let args = head.iter().flat_map(|head| &head.args).zip(&call.1);
            let mut given = args.filter_map(|(&arg, &value)| Some((arg, value?)));
            if !given.all(|(arg, value)| *known.entry(arg).or_insert(value) == value) {
                continue;
            }
            match self.execute_clause(clause, known, index, answers, budget) {
                Execution::Fails => {}
                Execution::Open => answer = Answer::Unclear,
                Execution::Ends(values, premises) => {
                    let step = self.step(clause, values, premises);
                    if let Some(fact) = step.fact.clone() {
                        answer = Answer::Fact(self.add(fact, step));
                        break;
                    }
                }
            }
        }
        answers.depth -= 1;
        if matches!(answer, Answer::Unclear) {
            answers.unclear.insert(mode);
        }
        answers.known.insert(call, answer);
        answer
    }
}

/// The subsets of up to `inputs` of these, smaller ones first, at most `input_sets`.
fn subsets(of: &[TermId]) -> Vec<Vec<TermId>> {
    let mut all: Vec<Vec<TermId>> = Vec::new();
    let mut last = vec![Vec::new()];
    for _ in 0..LIMITS.inputs {
        let larger = last.iter().flat_map(|set: &Vec<TermId>| {
            let after = of.iter().filter(|v| set.last().is_none_or(|l| l < v));
            after.map(|&v| set.iter().copied().chain([v]).collect())
        });
        last = larger.take(LIMITS.input_sets - all.len()).collect();
        all.extend(last.iter().cloned());
    }
    all
}
