//! The check of a witness against the user's text, with Z3's parser and solvers.
//!
//! The definitions of a model replace the declarations of the predicates, and every assertion has
//! to be valid then. For a refutation, predicates stay uninterpreted, and the assertion that a step
//! names has to imply that the step's premises imply its fact. So the facts of the steps hold in
//! every model of the text, and the last one is `false`.
//!
//! # Invariant
//! Z3 reads the problem's assertions from the user's text. The values of a refutation only select
//! instances of them, so wrong values do not make a wrong refutation pass.

use std::collections::BTreeSet;
use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::recursive::is_graph;
use super::script::{Changes, HeapGuard, Script, declared, defined, defined_with, query_variable};
use super::sexp::{elements, symbol};
use super::validate::CheckOutcome;
use super::{Fact, Refutation};
use alphorn_chc::ClauseId;
use alphorn_chc::frontend::Problem;
use alphorn_smt::text::{
    ClauseText, Premises, Reading, StepText, StepsCheck, TextCheck, assertions_of, implied_steps,
    valid_assertions, valid_texts,
};
use alphorn_term::run::Budget;
use alphorn_term::{Op, Printer, TermId, TermStore};

/// Checks that every assertion of the problem is valid with these definitions of its predicates.
pub fn check_definitions(problem: &Problem, definitions: &str, budget: &Budget) -> CheckOutcome {
    // The guard of heaps has a quantifier, which most models do not need, and which keeps solvers
    // from finding counterexamples.
    for guard in [HeapGuard::Open, HeapGuard::Small] {
        let Ok(Some(script)) = defined_with(problem, definitions, guard) else {
            continue;
        };
        match (guard, valid_assertions(&script.text, budget)) {
            (HeapGuard::Open, TextCheck::Valid { assertions })
                if assertions == script.origins.len() =>
            {
                return CheckOutcome::Valid;
            }
            (HeapGuard::Small, TextCheck::Invalid { assertion }) => {
                let place = place(problem, &script.origins, assertion);
                return CheckOutcome::Invalid(format!("{place} does not hold"));
            }
            _ => {}
        }
    }
    match defined(problem, definitions) {
        Ok(script) => outcome(
            problem,
            &script.origins,
            valid_script(&script, budget),
            budget,
        ),
        Err(message) => CheckOutcome::undecided(message),
    }
}

/// Whether the assertions of a script are valid; on the threads of the budget if they are many.
fn valid_script(script: &Script, budget: &Budget) -> TextCheck {
    let most = script.origins.len() / LIMITS.min_assertions_of_thread;
    let threads = budget.threads().min(most);
    if threads < 2 {
        return valid_assertions(&script.text, budget);
    }
    let blocks = script.blocks(threads);
    let texts = blocks.iter().map(|block| block.text.clone()).collect();
    let mut before = 0;
    for (block, result) in blocks.iter().zip(valid_texts(texts, budget)) {
        match result {
            TextCheck::Valid { assertions } if assertions == block.origins.len() => {
                before += assertions;
            }
            TextCheck::Valid { assertions } => {
                let count = block.origins.len();
                return TextCheck::Unknown {
                    assertion: before,
                    reason: format!("Z3 read {assertions} assertions of {count}"),
                };
            }
            TextCheck::Invalid { assertion } => {
                return TextCheck::Invalid {
                    assertion: before + assertion,
                };
            }
            TextCheck::Unknown { assertion, reason } => {
                let assertion = before + assertion;
                return TextCheck::Unknown { assertion, reason };
            }
            TextCheck::Malformed(message) => return TextCheck::Malformed(message),
        }
    }
    TextCheck::Valid { assertions: before }
}

/// The outcome of `check` for the problem's text in several readings. The text of each of
/// `readings`, which defines the predicates, replaces their declarations in the script that `script`
/// makes.
pub fn outcome_of_text(
    problem: &Problem,
    readings: &[Reading],
    script: impl Fn(&Problem, &str) -> Result<Script, String>,
    budget: &Budget,
    check: impl FnOnce(&[Reading]) -> TextCheck,
) -> CheckOutcome {
    let mut texts = Vec::with_capacity(readings.len());
    let mut origins = Vec::new();
    for reading in readings {
        let script = match script(problem, &reading.text) {
            Ok(script) => script,
            Err(message) => return CheckOutcome::undecided(message),
        };
        origins = script.origins;
        texts.push(Reading {
            text: script.text,
            ..*reading
        });
    }
    outcome(problem, &origins, check(&texts), budget)
}

/// What the result for a script says of the problem; `origins` are the commands of its assertions.
fn outcome(
    problem: &Problem,
    origins: &[usize],
    result: TextCheck,
    budget: &Budget,
) -> CheckOutcome {
    let place = |assertion: usize| place(problem, origins, assertion);
    if let TextCheck::Malformed(_) = result
        && let Err(message) = readable(problem, budget)
    {
        return CheckOutcome::undecided(format!("Z3 rejects the text: {message}"));
    }
    match result {
        TextCheck::Valid { assertions } if assertions == origins.len() => CheckOutcome::Valid,
        TextCheck::Valid { assertions } => CheckOutcome::undecided(format!(
            "Z3 read {assertions} assertions of {}",
            origins.len()
        )),
        TextCheck::Invalid { assertion } => {
            CheckOutcome::Invalid(format!("{} does not hold", place(assertion)))
        }
        TextCheck::Unknown { assertion, reason } => CheckOutcome::Undecided {
            why: format!("{}: {reason}", place(assertion)),
            command: origins.get(assertion).copied(),
        },
        TextCheck::Malformed(message) => {
            CheckOutcome::Invalid(format!("Z3 rejects the definitions: {message}"))
        }
    }
}

/// The command of an assertion of a script, for messages.
fn place(problem: &Problem, origins: &[usize], assertion: usize) -> String {
    match origins.get(assertion) {
        Some(&index) => {
            let command = &problem.commands[index];
            format!("the {} in line {}", command.keyword, command.line)
        }
        None => "an assertion".to_owned(),
    }
}

/// Whether Z3 reads the problem's text, without definitions of the predicates.
///
/// # Errors
/// Why it does not.
fn readable(problem: &Problem, budget: &Budget) -> Result<(), String> {
    let asserts = |keyword: &str| matches!(keyword, "assert" | "rule" | "query");
    let commands = problem.commands.iter().enumerate();
    let commands = commands.filter(|(_, command)| asserts(&command.keyword));
    let all: BTreeSet<usize> = commands.map(|(index, _)| index).collect();
    let script = declared(problem, &Changes::new(problem, &[]), &all, "")?;
    assertions_of(&script.text, budget).map(|_| ())
}

/// Checks that each step of a refutation follows from the assertion of its clause. The steps have
/// passed `step_check`. With `exact`, a step has to follow from the instance with its own values,
/// otherwise from any instances.
pub fn check_steps_in_text(
    problem: &Problem,
    refutation: &Refutation,
    exact: bool,
    budget: &Budget,
) -> CheckOutcome {
    let writer = StepWriter::new(problem, refutation);
    let (script, clauses, steps, assertions) = match writer.write(refutation) {
        Ok(written) => written,
        Err(message) => return CheckOutcome::undecided(message),
    };
    // Without the universal quantifiers of bodies a step may lack premises; then all assertions are.
    let premises = match exact {
        _ if problem.is_stronger => Premises::Assertions(script.origins.len()),
        true => Premises::Instance,
        false => Premises::Assertion,
    };
    match implied_steps(&script.text, &clauses, &steps, premises, budget) {
        StepsCheck::Implied { assertions: read } if read == assertions => CheckOutcome::Valid,
        StepsCheck::Implied { assertions: read } => {
            CheckOutcome::undecided(format!("Z3 read {read} assertions of {assertions}"))
        }
        StepsCheck::NotImplied { step } => {
            let clause = &problem.clauses[refutation.steps[step].clause.0 as usize];
            let command = &problem.commands[clause.command];
            CheckOutcome::Invalid(format!(
                "step {}: the {} in line {} does not imply it",
                step + 1,
                command.keyword,
                command.line
            ))
        }
        StepsCheck::Unknown { step, reason } => {
            CheckOutcome::undecided(format!("step {}: {reason}", step + 1))
        }
        StepsCheck::Malformed(message) => {
            CheckOutcome::undecided(format!("Z3 rejects the text: {message}"))
        }
    }
}

/// Writes steps as assertions after those of the problem.
struct StepWriter<'a> {
    problem: &'a Problem,
    changes: Changes<'a>,
    printer: Printer<'a>,
    /// The prefix of new names; it does not occur in the problem's text.
    stem: String,
    /// The commands of the steps' clauses.
    commands: BTreeSet<usize>,
    /// New declarations, definitions and assertions.
    text: String,
    /// The number of assertions so far, with those of the problem.
    assertions: usize,
    /// The positions of the assertions of facts.
    facts: FxHashMap<&'a Fact, usize>,
    /// The positions of clauses in `clause_texts`.
    clauses: FxHashMap<ClauseId, usize>,
    clause_texts: Vec<ClauseText>,
    values: ValueNames,
}

/// The script, its clauses and steps, and the number of its assertions.
type Written = (Script, Vec<ClauseText>, Vec<StepText>, usize);

impl<'a> StepWriter<'a> {
    fn new(problem: &'a Problem, refutation: &Refutation) -> Self {
        let mut stem = "step!".to_owned();
        while problem.text.contains(&stem) {
            stem.push('!');
        }
        let clause = |id: ClauseId| &problem.clauses[id.0 as usize];
        let steps = refutation.steps.iter();
        let mut commands: BTreeSet<usize> = steps.map(|step| clause(step.clause).command).collect();
        if problem.is_stronger {
            commands.extend(problem.clauses.iter().map(|clause| clause.command));
        }
        StepWriter {
            problem,
            changes: Changes::new(problem, &[]),
            printer: Printer::new(&problem.terms),
            values: ValueNames::new(format!("{stem}value")),
            stem,
            assertions: commands.len(),
            commands,
            text: String::new(),
            facts: FxHashMap::default(),
            clauses: FxHashMap::default(),
            clause_texts: Vec::new(),
        }
    }

    /// The script for a refutation.
    fn write(mut self, refutation: &'a Refutation) -> Result<Written, String> {
        let mut steps = Vec::with_capacity(refutation.steps.len());
        for step in &refutation.steps {
            let clause = self.clause(step.clause)?;
            let vars = &self.problem.clauses[step.clause.0 as usize].vars;
            let values: Vec<TermId> = vars.iter().map(|(_, var)| step.values[var]).collect();
            let name = format!("{}clause{clause}", self.stem);
            let values = self.assertion(&name, &values, false);
            let premises = step.premises.iter();
            let premises = premises.filter_map(|&premise| refutation.steps[premise].fact.as_ref());
            let premises = premises.map(|fact| self.fact(fact)).collect();
            let fact = step.fact.as_ref().map(|fact| self.fact(fact));
            steps.push(StepText {
                clause,
                values,
                premises,
                fact,
            });
        }
        let script = declared(self.problem, &self.changes, &self.commands, &self.text)?;
        if script.origins.len() != self.commands.len() {
            return Err("a clause without an assertion".to_owned());
        }
        Ok((script, self.clause_texts, steps, self.assertions))
    }

    /// The position of a clause's text. Declares the predicate whose arguments are the values of
    /// its variables.
    fn clause(&mut self, id: ClauseId) -> Result<usize, String> {
        if let Some(&known) = self.clauses.get(&id) {
            return Ok(known);
        }
        let problem = self.problem;
        let clause = &problem.clauses[id.0 as usize];
        let index = self.clause_texts.len();
        write!(self.text, "(declare-fun {}clause{index} (", self.stem).expect("string");
        for (_, var) in &clause.vars {
            self.text
                .push_str(&self.printer.sort(problem.terms.sort_of(*var)));
            self.text.push(' ');
        }
        self.text.push_str(") Bool)\n");
        let names = clause.vars.iter().enumerate();
        let bare = names_a_relation(problem, clause.command)?;
        let variables = names.map(|(position, (name, _))| {
            if bare {
                query_variable(position)
            } else {
                self.changes.variable(name).to_owned()
            }
        });
        self.clause_texts.push(ClauseText {
            assertion: self.commands.range(..clause.command).count(),
            variables: variables.collect(),
        });
        self.clauses.insert(id, index);
        Ok(index)
    }

    /// The position of the assertion of a fact.
    fn fact(&mut self, fact: &'a Fact) -> usize {
        if let Some(&known) = self.facts.get(fact) {
            return known;
        }
        let name = &self.problem.predicates[fact.predicate.index()].name;
        let name = self.changes.predicate(name);
        let negated = self.problem.complemented.contains(&fact.predicate);
        let number = match fact.values.split_last() {
            Some((&value, args)) if is_graph(self.problem, fact.predicate) => {
                self.equation(&name, args, value)
            }
            _ => self.assertion(&name, &fact.values, negated),
        };
        self.facts.insert(fact, number);
        number
    }

    /// Asserts an atom or its negation and returns the assertion's position.
    fn assertion(&mut self, name: &str, values: &[TermId], negated: bool) -> usize {
        self.define(values);
        self.text.push_str("(assert ");
        self.text.push_str(if negated { "(not " } else { "" });
        self.applied(name, values);
        self.text.push_str(if negated { ")" } else { "" });
        self.end_assertion()
    }

    /// Asserts that a function has this value and returns the assertion's position.
    fn equation(&mut self, name: &str, args: &[TermId], value: TermId) -> usize {
        self.define(args);
        self.define(&[value]);
        self.text.push_str("(assert (= ");
        self.applied(name, args);
        self.text.push(' ');
        self.values.write(&self.printer, value, &mut self.text);
        self.text.push(')');
        self.end_assertion()
    }

    /// Writes definitions for the parts of values.
    fn define(&mut self, values: &[TermId]) {
        for &value in values {
            let terms = &self.problem.terms;
            self.values
                .define(terms, &self.printer, value, &mut self.text);
        }
    }

    fn applied(&mut self, name: &str, values: &[TermId]) {
        let applied = !values.is_empty();
        self.text.push_str(if applied { "(" } else { "" });
        self.text.push_str(name);
        for value in values {
            self.text.push(' ');
            self.values.write(&self.printer, *value, &mut self.text);
        }
        self.text.push_str(if applied { ")" } else { "" });
    }

    fn end_assertion(&mut self) -> usize {
        self.text.push_str(")\n");
        self.assertions += 1;
        self.assertions - 1
    }
}

/// Whether a command is a query that consists of the name of a relation.
///
/// # Errors
/// The query is malformed.
pub(super) fn names_a_relation(problem: &Problem, command: usize) -> Result<bool, String> {
    let command = &problem.commands[command];
    if command.keyword != "query" {
        return Ok(false);
    }
    let parts = elements(&problem.text, &command.range).ok_or("a malformed query")?;
    let formula = parts.get(1).ok_or("a query without a formula")?;
    let name = symbol(&problem.text[formula.clone()]);
    Ok(problem.predicates.iter().any(|p| p.name == name))
}

/// Names for compound values and their parts, so that shared parts are written once.
pub(super) struct ValueNames {
    stem: String,
    /// The variables that are printed in place of values.
    names: FxHashMap<TermId, TermId>,
}

impl ValueNames {
    /// Names with the prefix `stem`, which no other name may have.
    pub fn new(stem: String) -> Self {
        ValueNames {
            stem,
            names: FxHashMap::default(),
        }
    }

    /// Writes a value that has been defined.
    pub fn write(&self, printer: &Printer<'_>, value: TermId, out: &mut String) {
        printer.write_term(out, self.names.get(&value).copied().unwrap_or(value));
    }

    /// Writes the definitions of a value and its parts that are not defined yet.
    pub fn define(
        &mut self,
        terms: &TermStore,
        printer: &Printer<'_>,
        value: TermId,
        out: &mut String,
    ) {
        let mut stack = vec![value];
        while let Some(&value) = stack.last() {
            let node = terms.node(value);
            if node.args.is_empty() || self.names.contains_key(&value) {
                stack.pop();
                continue;
            }
            let missing = |part: &&TermId| {
                !terms.node(**part).args.is_empty() && !self.names.contains_key(part)
            };
            let before = stack.len();
            stack.extend(node.args.iter().filter(missing));
            if stack.len() > before {
                continue;
            }
            // cvc5 reads a constant array only if its element is no name.
            let named = |part: &TermId| match node.op {
                Op::ConstArray => *part,
                _ => self.names.get(part).copied().unwrap_or(*part),
            };
            let parts: Vec<TermId> = node.args.iter().map(named).collect();
            let whole = terms.rebuild(&node.op, &parts, node.sort);
            let name = format!("{}{}", self.stem, self.names.len());
            let sort = printer.sort(node.sort);
            write!(out, "(define-fun {name} () {sort} ").expect("string");
            printer.write_term(out, whole);
            out.push_str(")\n");
            self.names.insert(value, terms.var(&name, node.sort));
            stack.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::step_check::check_steps;
    use crate::{Witness, parse_witness};
    use alphorn_chc::frontend::parse;
    use alphorn_term::TermStore;

    /// Checks that a refutation passes, and that it fails after each of `mistakes`, which replace a
    /// part of the text by another of the same length.
    fn test(text: &str, refutation: &str, mistakes: &[(&str, &str)]) {
        let text = format!("{text} (check-sat)");
        let mut problem = parse(&text, Rc::new(TermStore::new())).expect("a problem");
        let claim = parse_witness(&problem, refutation).expect("a refutation");
        let Witness::Refutation(refutation) = claim.witness else {
            panic!("a model");
        };
        let budget = Budget::new(problem.terms.clone(), Default::default(), false);
        let outcome = check_steps_in_text(&problem, &refutation, false, &budget);
        assert_eq!(outcome, CheckOutcome::Valid, "{text}");
        for (from, to) in mistakes {
            assert_eq!(from.len(), to.len());
            assert!(text.contains(from), "{from}");
            problem.text = text.replacen(from, to, 1).into();
            assert_eq!(check_steps(&problem, &refutation, |_| true), Ok(()));
            let outcome = check_steps_in_text(&problem, &refutation, false, &budget);
            assert!(
                matches!(outcome, CheckOutcome::Invalid(_)),
                "{to} in {text}: {outcome:?}"
            );
        }
    }

    /// A chain of `count` steps, and definitions that hold at all places but those in `wrong`.
    fn chain(count: usize, wrong: &[usize]) -> (Problem, String) {
        let (mut text, mut definitions) = (String::new(), String::new());
        for at in 0..count {
            writeln!(text, "(declare-fun p{at} (Int) Bool)").expect("string");
            let low = if wrong.contains(&at) { at + 1 } else { at };
            let definition = format!("(define-fun p{at} ((x Int)) Bool (>= x {low}))");
            writeln!(definitions, "{definition}").expect("string");
        }
        text.push_str("(assert (forall ((x Int)) (=> (= x 0) (p0 x))))\n");
        for at in 1..count {
            let before = at - 1;
            let step = format!("(=> (p{before} x) (p{at} (+ x 1)))");
            writeln!(text, "(assert (forall ((x Int)) {step}))").expect("string");
        }
        text.push_str("(check-sat)\n");
        let problem = parse(&text, Rc::new(TermStore::new())).expect("a problem");
        (problem, definitions)
    }

    /// The outcome names the same assertion, however many threads there are.
    #[test]
    fn threads_do_not_change_the_outcome() {
        let count = 2 * LIMITS.min_assertions_of_thread + 7;
        let last = count - 1;
        for wrong in [&[][..], &[3], &[last], &[last - 9, 5, last]] {
            let (problem, definitions) = chain(count, wrong);
            let mut outcomes = Vec::new();
            for threads in [1, 2] {
                let budget = Budget::new(problem.terms.clone(), Default::default(), false);
                budget.allow_threads(threads);
                outcomes.push(check_definitions(&problem, &definitions, &budget));
            }
            assert_eq!(outcomes[0], outcomes[1]);
            assert_eq!(outcomes[0] == CheckOutcome::Valid, wrong.is_empty());
        }
    }

    #[test]
    fn a_mistake_of_the_reader_is_found() {
        test(
            "(declare-fun P (Int) Bool)
             (assert (forall ((x Int)) (=> (= x 0) (P x))))
             (assert (forall ((x Int) (y Int)) (=> (and (P x) (= y (+ x 1))) (P y))))
             (assert (forall ((x Int)) (=> (and (P x) (> x 1)) false)))",
            "1: P(0) by clause 1 [x = 0]
             2: P(1) by clause 2 [x = 0, y = 1] from 1
             3: P(2) by clause 2 [x = 1, y = 2] from 2
             4: false by clause 3 [x = 2] from 3",
            &[
                ("(= x 0)", "(= x 1)"),
                ("(+ x 1)", "(- x 1)"),
                ("(> x 1)", "(> x 2)"),
                ("(P x) (= y", "(P y) (= y"),
                ("(P y)", "(P x)"),
            ],
        );
    }

    #[test]
    fn quantifiers_are_found_wherever_they_stand() {
        // The assertion implies Q by x = 4, but not with `replaced` in place of 3; with the
        // clause's name.
        for (assertion, replaced, clause) in [
            ("(assert (forall ((x Int)) (=> (> x 3) Q)))", "x", "1"),
            (
                "(assert (not (exists ((x Int)) (and (> x 3) (not Q)))))",
                "x",
                "1",
            ),
            ("(assert (=> (exists ((x Int)) (> x 3)) Q))", "x", "1"),
            ("(assert (or Q (forall ((x Int)) (not (> x 3)))))", "x", "1"),
            (
                "(assert (let ((q Q)) (forall ((x Int)) (let ((c (> x 3))) (=> c q)))))",
                "x",
                "1",
            ),
            ("(assert (forall ((x Int)) (ite (> x 3) Q true)))", "x", "1"),
            (
                "(assert (forall ((x Int)) (and (=> Q Q) (=> (> x 3) Q))))",
                "x",
                "1.2",
            ),
            (
                "(define-fun big ((y Int)) Bool (> y 3))
                 (assert (forall ((x Int)) (! (=> (big x) Q) :pattern ((big x)))))",
                "y",
                "1",
            ),
        ] {
            test(
                &format!("(declare-fun Q () Bool) {assertion} (assert (not Q))"),
                &format!("1: Q by clause {clause} [x = 4] 2: false by clause 2 from 1"),
                &[("3", replaced)],
            );
        }
    }

    #[test]
    fn variables_of_one_name_are_told_apart() {
        test(
            "(declare-fun P (Int Int) Bool)
             (assert (forall ((x Int)) (=> (= x 1) (forall ((y Int)) (=> (= y 8) (P x y))))))
             (assert (not (exists ((x Int)) (and (exists ((x Int)) (and (P 1 x) (> x 7)))
                (exists ((x Int)) (P 1 (- x))) (P x 8)))))",
            "1: P(1, 8) by clause 1 [x = 1, y = 8]
             2: false by clause 2 [x = 1, x = 8, x = (- 8)] from 1, 1, 1",
            &[("(= x 1)", "(= x 2)"), ("(> x 7)", "(> x 8)")],
        );
    }

    #[test]
    fn rules_and_queries() {
        test(
            "(declare-rel |a b| (Real (_ BitVec 4)))
             (declare-fun bad (Real Real) Bool)
             (declare-var x Real) (declare-var v (_ BitVec 4))
             (rule (=> (< x 0.5) (|a b| (/ x 3.0) #x7)))
             (rule (=> (and (|a b| x v) (bvult v #x8)) (bad x (- x))))
             (query bad)",
            "1: |a b|((/ 1.0 12.0), #x7) by clause 1 [x = (/ 1.0 4.0)]
             2: bad((/ 1.0 12.0), (- (/ 1.0 12.0))) by clause 2
                [x = (/ 1.0 12.0), v = #x7] from 1
             3: false by clause 3 [bad = (/ 1.0 12.0), bad = (- (/ 1.0 12.0))] from 2",
            &[("0.5", "0.1"), ("#x7", "#x8"), ("bvult", "bvugt")],
        );
    }

    #[test]
    fn values_of_arrays_and_datatypes() {
        test(
            "(declare-datatypes ((List 1)) ((par (T) ((nil) (cons (hd T) (tl (List T)))))))
             (declare-fun step! ((List Int) (Array Int Int)) Bool)
             (assert (step! (as nil (List Int)) ((as const (Array Int Int)) 0)))
             (assert (forall ((l (List Int)) (a (Array Int Int)) (n Int))
                (=> (and (step! l a) (= n (select a 2)))
                    (step! (cons n l) (store (store a 2 (+ n 5)) 1 n)))))
             (assert (forall ((l (List Int)) (a (Array Int Int)))
                (=> (and (step! l a) (> (hd l) 3) ((_ is cons) (tl l)) (= (select a 1) 5))
                    false)))",
            "1: step!((as nil (List Int)), ((as const (Array Int Int)) 0)) by clause 1
             2: step!((cons 0 (as nil (List Int))), (store ((as const (Array Int Int)) 0) 2 5))
                by clause 2 [l = (as nil (List Int)), a = ((as const (Array Int Int)) 0), n = 0]
                from 1
             3: step!((cons 5 (cons 0 (as nil (List Int)))),
                      (store (store ((as const (Array Int Int)) 0) 1 5) 2 10))
                by clause 2 [l = (cons 0 (as nil (List Int))),
                      a = (store ((as const (Array Int Int)) 0) 2 5), n = 5] from 2
             4: false by clause 3 [l = (cons 5 (cons 0 (as nil (List Int)))),
                      a = (store (store ((as const (Array Int Int)) 0) 1 5) 2 10)] from 3",
            &[
                ("(+ n 5)", "(+ n 6)"),
                ("(> (hd l)", "(< (hd l)"),
                ("1 n)", "2 n)"),
            ],
        );
    }
}
