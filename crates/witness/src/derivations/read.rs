//! Reading proofs by induction on derivations, which are comments:
//!
//! ```text
//! ; relational NAME ((PREDICATE ARGUMENT ...) ...) STATEMENT :concludes (PREDICATE TERM ...) :group N
//!     :measured (SLOT ...) :proof NODE
//! ; total NAME (PREDICATE ARGUMENT ...) DOMAIN :outputs (POSITION ...) :group N :measure SUM
//!     :cases ((CLAUSE (TOTAL (SUM ...) (NAME ATOM ...) ...) ...) ...)
//! ; query NUMBER :use (NAME ATOM ...) ...
//! ; derived (PREDICATE ARGUMENT ...) :measure (TERM ...) :unfold ((FUNCTION TERM ...) ...)
//!     :cases ((CLAUSE TERM ...) ...)
//! ```
//!
//! where a USE is `(NAME ATOM ...)`, a NODE is one of
//!
//! ```text
//! (:use USE ...)
//! (:goal (ATOM ...) USE ...)
//! (:split ATOM NODE ...)
//! (:ghost (TOTAL (SUM ...) USE ...) NODE)
//! (:add (NAME ATOM ...) (USE ...) NODE)
//! (:apply (PREDICATE CLAUSE ATOM ...) ((VARIABLE ATOM ARGUMENT) ...) (TERM ...) (USE ...) NODE)
//! ```
//!
//! a SUM is `(CONSTANT (FACTOR ATOM ARGUMENT) ...)`, and a lemma, statement, query or predicate is one
//! line. Atoms, slots, queries and the clauses of a predicate count from 0. Without `:group` the group is
//! 0, without `:measured` all slots are, and without `:concludes` a lemma says its statement.
//!
//! # Invariant
//! Everything after the keywords is read, or an error with its place.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::{DerivedText, LemmaText, NodeText, ProofText, SlotText, StepText, TotalText};
use crate::comments::{Failure, failure, parts};
use crate::sexp::{ambiguity, elements, expression, symbol};
use crate::types::{Affine, ClauseStep, Existence, Instance, ProofNode, TotalCase};
use alphorn_chc::PredicateId;
use alphorn_chc::frontend::Problem;

/// The keywords of its lines.
const KEYWORDS: [&str; 3] = ["relational", "query", "total"];

/// The keyword of the lines about a model's facts.
const DERIVED: [&str; 1] = ["derived"];

/// Whether comments from `start` on have lines about a model's facts.
pub fn has_derived(text: &str, start: usize) -> bool {
    parts(text, start, DERIVED).next().is_some()
}

/// Reads why the facts of a model have derivations, in the comments from `start` on.
///
/// # Errors
/// The first place that is malformed.
pub fn read_derived(
    problem: &Problem,
    text: &str,
    start: usize,
) -> Result<Vec<DerivedText>, Failure> {
    let reader = Reader {
        problem,
        text,
        names: FxHashMap::default(),
        totals: FxHashMap::default(),
    };
    let lines = parts(text, start, DERIVED);
    let lines = lines.map(|(_, range)| reader.derived(range.start, &expressions(text, &range)?));
    lines.collect()
}

/// The expressions on a line.
fn expressions(text: &str, range: &Range<usize>) -> Result<Vec<Range<usize>>, Failure> {
    if let Some(place) = ambiguity(text, range) {
        return failure(place, "solvers may read this differently");
    }
    let line = &text[..range.end];
    let mut position = range.start;
    let mut found = Vec::new();
    while !line[position..].trim_start().is_empty() {
        let Some(next) = expression(line, position) else {
            return failure(position, "this does not end on its line");
        };
        position = next.end;
        found.push(next);
    }
    Ok(found)
}

/// Whether comments from `start` on have lines of a proof.
pub fn has_proof(text: &str, start: usize) -> bool {
    let mut found = parts(text, start, KEYWORDS);
    // Proofs have other lines besides those of totality.
    found.any(|(keyword, _)| keyword != "total")
}

/// Reads the proof in the comments from `start` on.
///
/// # Errors
/// The first place that is malformed.
pub fn read_proof(problem: &Problem, text: &str, start: usize) -> Result<ProofText, Failure> {
    let mut lines = Vec::new();
    let mut reader = Reader {
        problem,
        text,
        names: FxHashMap::default(),
        totals: FxHashMap::default(),
    };
    for (keyword, range) in parts(text, start, KEYWORDS) {
        let expressions = expressions(text, &range)?;
        // Proofs may use later lemmas, so the names come first.
        if keyword != "query"
            && let Some(name) = expressions.first()
        {
            let names = match keyword {
                "total" => &mut reader.totals,
                _ => &mut reader.names,
            };
            let number = names.len();
            if names.insert(&text[name.clone()], number).is_some() {
                return failure(name.start, "two lemmas of this name");
            }
        }
        lines.push((keyword, range.start, expressions));
    }
    let mut proof = ProofText {
        totals: Vec::new(),
        lemmas: Vec::new(),
        queries: Vec::new(),
    };
    for (keyword, place, expressions) in lines {
        if keyword == "relational" {
            proof.lemmas.push(reader.lemma(place, &expressions)?);
            continue;
        }
        if keyword == "total" {
            proof.totals.push(reader.total(place, &expressions)?);
            continue;
        }
        let [number, word, uses @ ..] = expressions.as_slice() else {
            return failure(place, "a query is a number and instances");
        };
        if reader.number(number)? != proof.queries.len() || reader.word(word) != ":use" {
            return failure(number.start, "queries are numbered in order, with `:use`");
        }
        proof.queries.push(reader.instances(uses)?);
    }
    Ok(proof)
}

/// Reads the parts of a text.
struct Reader<'a> {
    problem: &'a Problem,
    text: &'a str,
    /// The positions of the lemmas by name.
    names: FxHashMap<&'a str, usize>,
    /// The positions of the statements of totality by name.
    totals: FxHashMap<&'a str, usize>,
}

impl<'a> Reader<'a> {
    fn word(&self, range: &Range<usize>) -> &'a str {
        &self.text[range.clone()]
    }

    fn list(&self, range: &Range<usize>) -> Result<Vec<Range<usize>>, Failure> {
        elements(self.text, range).ok_or_else(|| (range.start, "a list is needed".to_owned()))
    }

    fn number(&self, range: &Range<usize>) -> Result<usize, Failure> {
        let number = self.word(range).parse();
        number.map_err(|_| (range.start, "a number is needed".to_owned()))
    }

    fn numbers(&self, ranges: &[Range<usize>]) -> Result<Vec<usize>, Failure> {
        ranges.iter().map(|range| self.number(range)).collect()
    }

    /// Reads a lemma.
    fn lemma(&self, place: usize, parts: &[Range<usize>]) -> Result<LemmaText, Failure> {
        let [name, slots, statement, rest @ ..] = parts else {
            return failure(place, "a lemma is a name, facts and a statement");
        };
        if self.word(name).starts_with('(') {
            return failure(name.start, "a name is needed");
        }
        let slots = self.list(slots)?;
        let slots: Vec<SlotText> = slots
            .iter()
            .map(|slot| self.slot(slot))
            .collect::<Result<_, _>>()?;
        let mut lemma = LemmaText {
            name: self.word(name).to_owned(),
            measured: (0..slots.len()).collect(),
            slots,
            statement: self.word(statement).to_owned(),
            conclusion: None,
            group: 0,
            nodes: Vec::new(),
        };
        for pair in rest.chunks(2) {
            let [keyword, value] = pair else {
                return failure(pair[0].start, "a keyword and its value are needed");
            };
            match self.word(keyword) {
                ":group" => lemma.group = self.number(value)?,
                ":measured" => {
                    lemma.measured = self.numbers(&self.list(value)?)?;
                    let mut sorted = lemma.measured.clone();
                    sorted.sort_unstable();
                    sorted.dedup();
                    let known = sorted.iter().all(|&slot| slot < lemma.slots.len());
                    if sorted.len() != lemma.measured.len() || !known {
                        return failure(value.start, "measured slots are distinct positions");
                    }
                }
                ":concludes" if lemma.conclusion.is_none() => {
                    let parts = self.list(value)?;
                    let (predicate, terms) = self.atom(value, &parts)?;
                    lemma.conclusion = Some((predicate, self.terms(terms)?));
                }
                ":proof" if lemma.nodes.is_empty() => lemma.nodes = self.nodes(value)?,
                other => {
                    return failure(keyword.start, format!("{other} has no place in a lemma"));
                }
            }
        }
        if lemma.nodes.is_empty() {
            return failure(place, format!("lemma {} has no proof", lemma.name));
        }
        Ok(lemma)
    }

    /// Reads a statement of totality.
    fn total(&self, place: usize, parts: &[Range<usize>]) -> Result<TotalText, Failure> {
        let [name, slot, domain, rest @ ..] = parts else {
            return failure(place, "a statement is a name, a fact and a domain");
        };
        if self.word(name).starts_with('(') {
            return failure(name.start, "a name is needed");
        }
        let mut total = TotalText {
            name: self.word(name).to_owned(),
            slot: self.slot(slot)?,
            domain: self.word(domain).to_owned(),
            outputs: Vec::new(),
            group: 0,
            measure: Affine::default(),
            cases: Vec::new(),
        };
        for pair in rest.chunks(2) {
            let [keyword, value] = pair else {
                return failure(pair[0].start, "a keyword and its value are needed");
            };
            match self.word(keyword) {
                ":group" => total.group = self.number(value)?,
                ":measure" => total.measure = self.affine(value)?,
                ":outputs" => {
                    total.outputs = self.numbers(&self.list(value)?)?;
                    let is_ascending = total.outputs.is_sorted_by(|a, b| a < b);
                    let arity = total.slot.args.len();
                    if !is_ascending || total.outputs.iter().any(|&at| at >= arity) {
                        return failure(value.start, "outputs are ascending positions");
                    }
                }
                ":cases" => {
                    for case in self.list(value)? {
                        let parts = self.list(&case)?;
                        let Some((clause, premises)) = parts.split_first() else {
                            return failure(case.start, "the number of a clause is missing");
                        };
                        let premises = premises.iter().map(|premise| self.existence(premise));
                        total.cases.push(TotalCase {
                            clause: self.number(clause)?,
                            premises: premises.collect::<Result<_, _>>()?,
                        });
                    }
                }
                other => {
                    return failure(
                        keyword.start,
                        format!("{other} has no place in a statement"),
                    );
                }
            }
        }
        Ok(total)
    }

    /// Reads why the facts of a predicate have derivations.
    fn derived(&self, place: usize, parts: &[Range<usize>]) -> Result<DerivedText, Failure> {
        let Some((slot, rest)) = parts.split_first() else {
            return failure(place, "a fact is needed");
        };
        let mut derived = DerivedText {
            slot: self.slot(slot)?,
            measure: Vec::new(),
            unfoldings: Vec::new(),
            cases: Vec::new(),
        };
        let words = |ranges: &[Range<usize>]| {
            let words = ranges.iter().map(|range| self.word(range).to_owned());
            words.collect::<Vec<_>>()
        };
        for pair in rest.chunks(2) {
            let [keyword, value] = pair else {
                return failure(pair[0].start, "a keyword and its value are needed");
            };
            let items = self.list(value)?;
            let lists = || items.iter().map(|item| Ok((item.start, self.list(item)?)));
            match self.word(keyword) {
                ":measure" => derived.measure = words(&items),
                ":unfold" => {
                    for list in lists() {
                        match &list?.1[..] {
                            [name, args @ ..] => {
                                let name = self.word(name).to_owned();
                                derived.unfoldings.push((name, words(args)));
                            }
                            [] => return failure(value.start, "a call is needed"),
                        }
                    }
                }
                ":cases" => {
                    for list in lists() {
                        let (start, list) = list?;
                        let Some((clause, terms)) = list.split_first() else {
                            return failure(start, "the number of a clause is missing");
                        };
                        derived.cases.push((self.number(clause)?, words(terms)));
                    }
                }
                other => {
                    let message = format!("{other} has no place here");
                    return failure(keyword.start, message);
                }
            }
        }
        Ok(derived)
    }

    /// Reads why there is a fact.
    fn existence(&self, range: &Range<usize>) -> Result<Existence, Failure> {
        let parts = self.list(range)?;
        let [name, inputs, uses @ ..] = &parts[..] else {
            return failure(range.start, "a statement and inputs are needed");
        };
        let Some(&total) = self.totals.get(self.word(name)) else {
            return failure(
                name.start,
                format!("there is no statement {}", self.word(name)),
            );
        };
        let inputs = self.list(inputs)?;
        let inputs = inputs.iter().map(|sum| self.affine(sum));
        Ok(Existence {
            total,
            inputs: inputs.collect::<Result<_, _>>()?,
            uses: self.instances(uses)?,
        })
    }

    /// Reads a sum.
    fn affine(&self, range: &Range<usize>) -> Result<Affine, Failure> {
        let integer = |range: &Range<usize>| {
            let number = self.word(range).parse();
            number.map_err(|_| (range.start, "an integer is needed".to_owned()))
        };
        let parts = self.list(range)?;
        let Some((constant, parts)) = parts.split_first() else {
            return failure(range.start, "a constant is needed");
        };
        let part = |range: &Range<usize>| match &self.list(range)?[..] {
            [factor, atom, arg] => Ok((integer(factor)?, self.number(atom)?, self.number(arg)?)),
            _ => failure(range.start, "a factor and an argument are needed"),
        };
        Ok(Affine {
            constant: integer(constant)?,
            parts: parts.iter().map(part).collect::<Result<_, _>>()?,
        })
    }

    fn slot(&self, range: &Range<usize>) -> Result<SlotText, Failure> {
        let parts = self.list(range)?;
        let (predicate, args) = self.atom(range, &parts)?;
        if args.iter().any(|arg| self.word(arg).starts_with('(')) {
            return failure(range.start, "arguments are names");
        }
        Ok(SlotText {
            predicate,
            args: args.iter().map(|arg| self.word(arg).to_owned()).collect(),
        })
    }

    /// The position of the predicate of an atom, and its arguments.
    fn atom<'r>(
        &self,
        range: &Range<usize>,
        parts: &'r [Range<usize>],
    ) -> Result<(usize, &'r [Range<usize>]), Failure> {
        let Some((name, args)) = parts.split_first() else {
            return failure(range.start, "a predicate is needed");
        };
        let predicate = self.predicate(name)?;
        let known = &self.problem.predicates[predicate];
        if known.arity() != args.len() {
            let message = format!("{} has another number of arguments", known.name);
            return failure(range.start, message);
        }
        Ok((predicate, args))
    }

    /// The position of a predicate.
    fn predicate(&self, range: &Range<usize>) -> Result<usize, Failure> {
        let name = symbol(self.word(range));
        let mut predicates = self.problem.predicates.iter();
        match predicates.position(|p| p.name == name) {
            Some(at) => Ok(at),
            None => failure(range.start, format!("there is no predicate {name}")),
        }
    }

    /// The identity of a predicate.
    fn problem_predicate(&self, range: &Range<usize>) -> Result<PredicateId, Failure> {
        match u32::try_from(self.predicate(range)?) {
            Ok(at) => Ok(PredicateId(at)),
            Err(_) => failure(range.start, "too many predicates"),
        }
    }

    /// The texts of terms, which name no parts of themselves for other places.
    fn terms(&self, ranges: &[Range<usize>]) -> Result<Vec<String>, Failure> {
        let read = |range: &Range<usize>| {
            let word = self.word(range);
            match word.contains(":named") {
                true => failure(range.start, "a term without attributes is needed"),
                false => Ok(word.to_owned()),
            }
        };
        ranges.iter().map(read).collect()
    }

    /// Reads the nodes of a proof; iterative.
    fn nodes(&self, root: &Range<usize>) -> Result<Vec<NodeText>, Failure> {
        let mut nodes: Vec<NodeText> = Vec::new();
        let mut todo = vec![(root.clone(), None)];
        while let Some((range, parent)) = todo.pop() {
            let number = nodes.len();
            if let Some((parent, case)) = parent {
                match nodes.get_mut::<usize>(parent) {
                    Some(ProofNode::Split { cases, .. }) => cases[case] = number,
                    Some(
                        ProofNode::Ghost { inner, .. }
                        | ProofNode::Add { inner, .. }
                        | ProofNode::Apply { inner, .. },
                    ) => *inner = number,
                    _ => {}
                }
            }
            let parts = self.list(&range)?;
            let (node, cases) = self.node(&range, &parts)?;
            let places = cases.iter().cloned().enumerate();
            todo.extend(places.map(|(at, case)| (case, Some((number, at)))));
            nodes.push(node);
        }
        Ok(nodes)
    }

    /// Reads a node; those below it are left.
    fn node<'r>(
        &self,
        range: &Range<usize>,
        parts: &'r [Range<usize>],
    ) -> Result<(NodeText, &'r [Range<usize>]), Failure> {
        let Some((word, parts)) = parts.split_first() else {
            return failure(range.start, "an empty node");
        };
        Ok(match (self.word(word), parts) {
            (":use", uses) => (ProofNode::Use(self.instances(uses)?), &[]),
            (":goal", [atoms, uses @ ..]) => {
                let node = ProofNode::Goal {
                    atoms: self.numbers(&self.list(atoms)?)?,
                    uses: self.instances(uses)?,
                };
                (node, &[])
            }
            (":split", [atom, cases @ ..]) => {
                let node = ProofNode::Split {
                    atom: self.number(atom)?,
                    cases: vec![0; cases.len()],
                };
                (node, cases)
            }
            (":ghost", [fact, inner @ ..]) if inner.len() == 1 => {
                let node = ProofNode::Ghost {
                    fact: self.existence(fact)?,
                    inner: 0,
                };
                (node, inner)
            }
            (":add", [used, uses, inner @ ..]) if inner.len() == 1 => {
                let node = ProofNode::Add {
                    used: self.instance(used)?,
                    uses: self.instances(&self.list(uses)?)?,
                    inner: 0,
                };
                (node, inner)
            }
            (":apply", [clause, names, values, uses, inner @ ..]) if inner.len() == 1 => {
                let step = self.step(clause, names, values, uses)?;
                (ProofNode::Apply { step, inner: 0 }, inner)
            }
            _ => {
                let message = "neither `:use`, `:goal`, `:split`, `:ghost`, `:add` nor `:apply`";
                return failure(range.start, message);
            }
        })
    }

    /// Reads the application of a clause.
    fn step(
        &self,
        clause: &Range<usize>,
        names: &Range<usize>,
        values: &Range<usize>,
        uses: &Range<usize>,
    ) -> Result<StepText, Failure> {
        let parts = self.list(clause)?;
        let [predicate, number, premises @ ..] = &parts[..] else {
            return failure(
                clause.start,
                "a predicate and the number of a clause are needed",
            );
        };
        let name = |range: &Range<usize>| match &self.list(range)?[..] {
            [name, atom, arg] if !self.word(name).starts_with('(') => {
                let name = self.word(name).to_owned();
                Ok((name, self.number(atom)?, self.number(arg)?))
            }
            _ => failure(range.start, "a name and an argument are needed"),
        };
        let names = self.list(names)?;
        Ok(ClauseStep {
            predicate: self.problem_predicate(predicate)?,
            clause: self.number(number)?,
            premises: self.numbers(premises)?,
            names: names.iter().map(name).collect::<Result<_, _>>()?,
            values: self.terms(&self.list(values)?)?,
            uses: self.instances(&self.list(uses)?)?,
        })
    }

    fn instances(&self, ranges: &[Range<usize>]) -> Result<Vec<Instance>, Failure> {
        ranges.iter().map(|range| self.instance(range)).collect()
    }

    fn instance(&self, range: &Range<usize>) -> Result<Instance, Failure> {
        let parts = self.list(range)?;
        let Some((name, atoms)) = parts.split_first() else {
            return failure(range.start, "the name of a lemma is missing");
        };
        let Some(&lemma) = self.names.get(self.word(name)) else {
            return failure(name.start, format!("there is no lemma {}", self.word(name)));
        };
        let atoms = self.numbers(atoms)?;
        Ok(Instance { lemma, atoms })
    }
}
