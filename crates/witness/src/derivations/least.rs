//! The least model of the clauses, over a datatype of derivations.
//!
//! A derivation of a fact `P(x)` is the clause with which it ends, the values of the clause's variables,
//! and the derivations of its premises. So each predicate has a datatype with a constructor for each
//! of its clauses, a recursive function says of which fact something is a derivation, by cases and
//! without quantifiers, and a predicate holds where there is a derivation:
//!
//! ```text
//! (declare-datatypes ((derivation!fib 0)) (((derivation!fib!0 (derivation!fib!0!0 Int) …) …)))
//! (define-funs-rec ((derives!fib ((d derivation!fib) (h0 Int) (h1 Int)) Bool)) ((match d …)))
//! (define-fun fib ((h0 Int) (h1 Int)) Bool (exists ((d derivation!fib)) (derives!fib d h0 h1)))
//! ```
//!
//! The text depends on the clauses only. That this model satisfies the queries is what a proof by
//! induction on derivations shows.
//!
//! # Invariant
//! The definitions hold of exactly the facts that the clauses derive.

use std::fmt::Write;

use super::super::print::ModelPrinter;
use crate::types::Model;
use alphorn_chc::frontend::{Problem, ProblemClause};
use alphorn_term::{Printer, TermId, quote_symbol};

/// The commands of the least model.
///
/// # Errors
/// A clause has other variables than its own.
pub fn least_model(problem: &Problem) -> Result<Vec<String>, String> {
    let writer = Writer::new(problem)?;
    let derived: Vec<usize> = (0..problem.predicates.len())
        .filter(|&predicate| !writer.rules[predicate].is_empty())
        .collect();
    let mut commands = Vec::new();
    if !derived.is_empty() {
        commands.push(writer.datatypes(&derived));
        commands.push(writer.functions(&derived)?);
    }
    commands.extend((0..problem.predicates.len()).map(|predicate| writer.definition(predicate)));
    Ok(commands)
}

/// Writes the parts.
struct Writer<'a> {
    problem: &'a Problem,
    printer: ModelPrinter<'a>,
    /// What names of sorts and constructors, and what names of functions begin with.
    sorts: String,
    functions: String,
    /// The clauses that derive each predicate, without those that have a premise without derivations.
    rules: Vec<Vec<&'a ProblemClause>>,
}

impl<'a> Writer<'a> {
    fn new(problem: &'a Problem) -> Result<Self, String> {
        let fresh = |stem: &str| {
            let mut stem = format!("{stem}!");
            while problem.text.contains(&stem) {
                stem.push('!');
            }
            stem
        };
        let printer = ModelPrinter::new(problem, &Model::default())?;
        Ok(Writer {
            problem,
            printer: printer.with_arguments(fresh("x")),
            sorts: fresh("derivation"),
            functions: fresh("derives"),
            rules: rules(problem),
        })
    }

    /// The name of a predicate's datatype.
    fn sort(&self, predicate: usize) -> String {
        let name = &self.problem.predicates[predicate].name;
        quote_symbol(&format!("{}{name}", self.sorts))
    }

    /// The name of a constructor, or of a field of it.
    fn part(&self, predicate: usize, numbers: &[usize]) -> String {
        let name = &self.problem.predicates[predicate].name;
        let mut text = format!("{}{name}", self.sorts);
        for number in numbers {
            write!(text, "!{number}").expect("string");
        }
        quote_symbol(&text)
    }

    /// The name of a predicate's function.
    fn function(&self, predicate: usize) -> String {
        let name = &self.problem.predicates[predicate].name;
        quote_symbol(&format!("{}{name}", self.functions))
    }

    /// The binders of a predicate's arguments, and their names, each with a space before it.
    fn arguments(&self, predicate: usize) -> (String, String) {
        let terms = &self.problem.terms;
        let printer = Printer::new(terms);
        let (mut binders, mut names) = (String::new(), String::new());
        for (at, &param) in self.problem.predicates[predicate].params.iter().enumerate() {
            let name = format!("{}h{at}", self.functions);
            write!(binders, " ({name} {})", printer.sort(terms.sort_of(param))).expect("string");
            write!(names, " {name}").expect("string");
        }
        (binders, names)
    }

    /// The command that declares the datatypes.
    fn datatypes(&self, predicates: &[usize]) -> String {
        let terms = &self.problem.terms;
        let printer = Printer::new(terms);
        let (mut names, mut bodies) = (String::new(), String::new());
        for &predicate in predicates {
            write!(names, "({} 0)", self.sort(predicate)).expect("string");
            bodies.push('(');
            for (rule, clause) in self.rules[predicate].iter().enumerate() {
                write!(bodies, "({}", self.part(predicate, &[rule])).expect("string");
                let values = clause.vars.iter().map(|v| printer.sort(terms.sort_of(v.1)));
                let premises = clause.body.iter().map(|a| self.sort(a.predicate.index()));
                for (field, sort) in values.chain(premises).enumerate() {
                    let name = self.part(predicate, &[rule, field]);
                    write!(bodies, " ({name} {sort})").expect("string");
                }
                bodies.push(')');
            }
            bodies.push(')');
        }
        format!("(declare-datatypes ({names}) ({bodies}))")
    }

    /// The command that defines of which fact something is a derivation.
    fn functions(&self, predicates: &[usize]) -> Result<String, String> {
        let (mut heads, mut bodies) = (String::new(), String::new());
        for &predicate in predicates {
            let (binders, _) = self.arguments(predicate);
            let (name, sort) = (self.function(predicate), self.sort(predicate));
            let derivation = format!("{}d", self.functions);
            write!(heads, "({name} (({derivation} {sort}){binders}) Bool)").expect("string");
            write!(bodies, "(match {derivation} (").expect("string");
            for rule in 0..self.rules[predicate].len() {
                bodies.push_str(&self.case(predicate, rule)?);
            }
            bodies.push_str("))");
        }
        Ok(format!("(define-funs-rec ({heads}) ({bodies}))"))
    }

    /// The case of a clause.
    fn case(&self, predicate: usize, rule: usize) -> Result<String, String> {
        let clause = self.rules[predicate][rule];
        let vars: Vec<TermId> = clause.vars.iter().map(|v| v.1).collect();
        let atoms = || clause.head.iter().chain(&clause.body);
        let mut roots: Vec<TermId> = atoms().flat_map(|a| a.args.iter().copied()).collect();
        roots.push(clause.constraint);
        let texts = self.printer.over(&vars, &roots);
        let (_, texts) = texts.map_err(|()| "a clause with other variables".to_owned())?;
        let mut texts = texts.into_iter();

        let premise = |at: usize| self.printer.argument(vars.len() + at);
        let mut fields = String::new();
        for at in 0..vars.len() + clause.body.len() {
            write!(fields, " {}", self.printer.argument(at)).expect("string");
        }
        let constructor = self.part(predicate, &[rule]);
        let pattern = match fields.is_empty() {
            true => constructor,
            false => format!("({constructor}{fields})"),
        };
        let mut body = "(and true".to_owned();
        let head = clause.head.iter().flat_map(|head| 0..head.args.len());
        for (at, value) in head.zip(&mut texts) {
            write!(body, " (= {}h{at} {value})", self.functions).expect("string");
        }
        for (at, atom) in clause.body.iter().enumerate() {
            let name = self.function(atom.predicate.index());
            write!(body, " ({name} {}", premise(at)).expect("string");
            for value in texts.by_ref().take(atom.args.len()) {
                write!(body, " {value}").expect("string");
            }
            body.push(')');
        }
        write!(body, " {})", texts.next().unwrap_or_default()).expect("string");
        Ok(format!("({pattern} {body})"))
    }

    /// The definition of a predicate.
    fn definition(&self, predicate: usize) -> String {
        let name = quote_symbol(&self.problem.predicates[predicate].name);
        let (binders, names) = self.arguments(predicate);
        let binders = binders.trim_start();
        if self.rules[predicate].is_empty() {
            return format!("(define-fun {name} ({binders}) Bool false)");
        }
        let (function, sort) = (self.function(predicate), self.sort(predicate));
        let derivation = format!("{}d", self.functions);
        format!(
            "(define-fun {name} ({binders}) Bool (exists (({derivation} {sort})) ({function} \
             {derivation}{names})))"
        )
    }
}

/// The clauses that derive each predicate. Those with a premise that has no derivations, whatever
/// the constraints are, are left out, since a datatype has to have finite values.
fn rules(problem: &Problem) -> Vec<Vec<&ProblemClause>> {
    let mut using: Vec<Vec<usize>> = vec![Vec::new(); problem.predicates.len()];
    // By clause, the number of body atoms without derivations so far.
    let mut missing: Vec<usize> = problem.clauses.iter().map(|c| c.body.len()).collect();
    for (number, clause) in problem.clauses.iter().enumerate() {
        for atom in &clause.body {
            using[atom.predicate.index()].push(number);
        }
    }
    let mut rules = vec![Vec::new(); problem.predicates.len()];
    let mut ready: Vec<usize> = (0..missing.len()).filter(|&c| missing[c] == 0).collect();
    let mut usable = vec![false; missing.len()];
    let mut has_derivations = vec![false; problem.predicates.len()];
    while let Some(number) = ready.pop() {
        usable[number] = true;
        let Some(head) = &problem.clauses[number].head else {
            continue;
        };
        let predicate = head.predicate.index();
        if std::mem::replace(&mut has_derivations[predicate], true) {
            continue;
        }
        for &user in &using[predicate] {
            missing[user] -= 1;
            if missing[user] == 0 {
                ready.push(user);
            }
        }
    }
    let usable = problem
        .clauses
        .iter()
        .zip(usable)
        .filter(|(_, usable)| *usable);
    for (clause, _) in usable {
        if let Some(head) = &clause.head {
            rules[head.predicate.index()].push(clause);
        }
    }
    rules
}
