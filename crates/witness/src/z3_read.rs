//! Reads the proof terms that `z3_proof` writes.
//!
//! Such a proof has no values of variables. A query finds values for each step: they make the
//! clause's constraint true, and its atoms the premises and the fact.
//!
//! # Invariant
//! Nothing here is trusted: the steps are checked as those of any other refutation. Work is linear
//! in the text, but for the queries.

use std::ops::Range;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::parse::{RawFact, RawStep};
use super::sexp::{TokenKind, Tokens, symbol};
use super::{Fact, RefutationStep};
use alphorn_chc::Atom;
use alphorn_chc::frontend::{Problem, ProblemClause};
use alphorn_smt::{SatResult, Smt};
use alphorn_term::run::Budget;
use alphorn_term::{Assignment, TermId};

/// How long the values of all steps may be looked for.
const TIME_FOR_VALUES: Duration = Duration::from_secs(60);

/// Whether a text from a place on begins as a proof term.
pub fn is_proof_term(text: &str, start: usize) -> bool {
    let first: Vec<&str> = Tokens::new(text, start)
        .take(3)
        .map(|token| &text[token.range])
        .collect();
    first == ["(", "(", "set-logic"]
}

/// An expression: its range, and for a list its elements.
struct Node {
    range: Range<usize>,
    elements: Option<Vec<usize>>,
}

/// The steps of a proof term; they have no values.
///
/// # Errors
/// A place in the text, and what is wrong there.
pub fn proof_term_steps(text: &str, start: usize) -> Result<Vec<RawStep>, (usize, String)> {
    let nodes = nodes(text, start).ok_or((start, "the proof does not end".to_owned()))?;
    Reader {
        text,
        nodes,
        query: "",
        bindings: FxHashMap::default(),
        numbers: FxHashMap::default(),
        steps: Vec::new(),
    }
    .read(start)
}

/// The nodes of the first expression, each after its elements.
fn nodes(text: &str, start: usize) -> Option<Vec<Node>> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    for token in Tokens::new(text, start) {
        let node = match token.kind {
            TokenKind::Open => {
                open.push((token.range.start, Vec::new()));
                continue;
            }
            TokenKind::Close => {
                let (begin, elements) = open.pop()?;
                Node {
                    range: begin..token.range.end,
                    elements: Some(elements),
                }
            }
            _ => Node {
                range: token.range,
                elements: None,
            },
        };
        nodes.push(node);
        match open.last_mut() {
            Some((_, elements)) => elements.push(nodes.len() - 1),
            None => return Some(nodes),
        }
    }
    None
}

struct Reader<'a> {
    text: &'a str,
    nodes: Vec<Node>,
    /// The atom of the query.
    query: &'a str,
    /// What names under `let` stand for.
    bindings: FxHashMap<&'a str, usize>,
    /// The numbers of the steps that have been read, by their nodes.
    numbers: FxHashMap<usize, usize>,
    steps: Vec<RawStep>,
}

impl<'a> Reader<'a> {
    fn read(mut self, start: usize) -> Result<Vec<RawStep>, (usize, String)> {
        let failed = |place: usize, what: &str| Err((place, what.to_owned()));
        let root = self.nodes.len() - 1;
        let mut current = root;
        for part in self.list(root).to_vec() {
            match *self.list(part) {
                [word, name, _, _] if self.is(word, "declare-fun") => {
                    self.query = self.source(name)
                }
                [word, proof] if self.is(word, "proof") => current = proof,
                _ => {}
            }
        }
        if current == root {
            return failed(start, "there is no proof");
        }
        loop {
            let place = self.nodes[current].range.start;
            match *self.list(current) {
                [word, list, body] if self.is(word, "let") => {
                    for pair in self.list(list).to_vec() {
                        let [name, meaning] = *self.list(pair) else {
                            return failed(place, "a binding is expected");
                        };
                        self.bindings.insert(self.source(name), meaning);
                    }
                    current = body;
                }
                [word, step, _, _] if self.is(word, "mp") => {
                    self.step(step)?;
                    return Ok(self.steps);
                }
                _ => return failed(place, "`let` or `mp` is expected"),
            }
        }
    }

    fn source(&self, node: usize) -> &'a str {
        &self.text[self.nodes[node].range.clone()]
    }

    fn is(&self, node: usize, word: &str) -> bool {
        self.source(node) == word
    }

    /// The elements of a list; none for another node.
    fn list(&self, node: usize) -> &[usize] {
        self.nodes[node].elements.as_deref().unwrap_or_default()
    }

    /// What a node is, or the name that it is stands for.
    fn meaning(&self, node: usize) -> usize {
        let bound = self.bindings.get(self.source(node));
        bound.copied().unwrap_or(node)
    }

    /// Reads the step of a node after its premises.
    fn step(&mut self, root: usize) -> Result<(), (usize, String)> {
        let mut stack = vec![self.meaning(root)];
        while let Some(&node) = stack.last() {
            if self.numbers.contains_key(&node) {
                stack.pop();
                continue;
            }
            let place = self.nodes[node].range.start;
            let [rule, clause, premises @ .., fact] = self.list(node) else {
                return Err((place, "a step is expected".to_owned()));
            };
            if !self.source(*rule).contains("hyper-res") {
                return Err((place, "a step by `hyper-res` is expected".to_owned()));
            }
            let premises: Vec<usize> = premises.iter().map(|&p| self.meaning(p)).collect();
            let missing: Vec<usize> = premises
                .iter()
                .copied()
                .filter(|premise| !self.numbers.contains_key(premise))
                .collect();
            if !missing.is_empty() {
                if stack.len() > self.nodes.len() {
                    return Err((place, "a step is a premise of itself".to_owned()));
                }
                stack.extend(missing);
                continue;
            }
            let number = self.steps.len() + 1;
            let clause = self.clause(*clause);
            let step = RawStep {
                number,
                fact: self.fact(*fact),
                clause: clause.ok_or((place, "`(asserted CLAUSE)` is expected".to_owned()))?,
                values: None,
                premises: premises.iter().map(|p| self.numbers[p]).collect(),
            };
            self.steps.push(step);
            self.numbers.insert(node, number);
            stack.pop();
        }
        Ok(())
    }

    /// The number of a clause, and that of its part, from `(asserted $cN.M)`.
    fn clause(&self, node: usize) -> Option<(usize, usize)> {
        let [_, name] = *self.list(node) else {
            return None;
        };
        let digits = self.source(name);
        let digits = digits.trim_start_matches(|c: char| !c.is_ascii_digit());
        let (number, part) = digits.split_once('.').unwrap_or((digits, "1"));
        Some((number.parse().ok()?, part.parse().ok()?))
    }

    /// The fact that a step derives; `None` for the query.
    fn fact(&self, node: usize) -> Option<RawFact> {
        if self.is(node, self.query) {
            return None;
        }
        let (mut atom, mut negated, mut value) = (node, false, None);
        match *self.list(node) {
            [word, inner] if self.is(word, "not") => (atom, negated) = (inner, true),
            // A function's graph.
            [word, call, result] if self.is(word, "=") => (atom, value) = (call, Some(result)),
            _ => {}
        }
        let (name, arguments) = match self.list(atom).split_first() {
            Some((&name, arguments)) => (name, arguments.to_vec()),
            None => (atom, Vec::new()),
        };
        let arguments = arguments.into_iter().chain(value);
        Some(RawFact {
            negated,
            predicate: symbol(self.source(name)).to_owned(),
            arguments: arguments
                .map(|argument| self.source(self.meaning(argument)).to_owned())
                .collect(),
        })
    }
}

/// Finds values of the variables of steps that have none; what is not found stays out.
pub fn complete(problem: &Problem, steps: &mut [RefutationStep]) {
    let budget = Budget::new(problem.terms.clone(), Default::default(), false);
    let budget = budget.time(TIME_FOR_VALUES);
    let smt = Smt::within(&budget);
    let mut solver = smt.solver();
    for index in 0..steps.len() {
        let step = &steps[index];
        let Some(clause) = problem.clauses.get(step.clause.0 as usize) else {
            continue;
        };
        let vars: Vec<TermId> = clause.vars.iter().map(|(_, var)| *var).collect();
        if step.values.len() == vars.len() {
            continue;
        }
        let premises: Vec<&Fact> = step
            .premises
            .iter()
            .filter_map(|&premise| steps[premise].fact.as_ref())
            .collect();
        let condition = condition(problem, clause, &premises, step.fact.as_ref());
        solver.push();
        solver.assert(condition);
        let values = match solver.check(&[]) {
            SatResult::Sat => solver.model().and_then(|m| m.assignment(&vars).ok()),
            // The step does not follow; with any values the check says so.
            SatResult::Unsat => defaults(problem, &vars),
            SatResult::Unknown(_) => None,
        };
        solver.pop();
        steps[index].values = values.unwrap_or_else(Assignment::default);
    }
}

/// Some values of variables.
fn defaults(problem: &Problem, vars: &[TermId]) -> Option<Assignment> {
    let terms = &problem.terms;
    let value = |&var: &TermId| Some((var, terms.default_value(terms.sort_of(var))?));
    vars.iter().map(value).collect()
}

/// The condition on the variables of a clause with which a step follows.
fn condition(
    problem: &Problem,
    clause: &ProblemClause,
    premises: &[&Fact],
    fact: Option<&Fact>,
) -> TermId {
    let terms = &problem.terms;
    let equal = |atom: &Atom, fact: &Fact| {
        let pairs = atom.args.iter().zip(&fact.values);
        let equations: Vec<TermId> = pairs.map(|(&a, &v)| terms.eq(a, v)).collect();
        terms.and(&equations)
    };
    let holds = |atom: &Atom| {
        let own = premises.iter().filter(|f| f.predicate == atom.predicate);
        terms.or(&own.map(|fact| equal(atom, fact)).collect::<Vec<_>>())
    };
    let mut known: FxHashMap<usize, TermId> = FxHashMap::default();
    // Each disjunction comes after those in it.
    for at in problem.disjunctions_of(clause) {
        let alternatives = problem.disjunctions[at].alternatives.iter();
        let cases = alternatives.map(|alternative| {
            let mut parts = vec![alternative.constraint];
            parts.extend(alternative.body.iter().map(holds));
            parts.extend(alternative.disjunctions.iter().map(|at| known[at]));
            terms.and(&parts)
        });
        let cases: Vec<TermId> = cases.collect();
        known.insert(at, terms.or(&cases));
    }
    let mut parts = vec![clause.constraint];
    parts.extend(clause.body.iter().map(holds));
    parts.extend(clause.disjunctions.iter().map(|at| known[at]));
    if let (Some(head), Some(fact)) = (&clause.head, fact) {
        parts.push(equal(head, fact));
    }
    terms.and(&parts)
}
