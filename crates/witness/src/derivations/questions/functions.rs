//! The questions of a model that defines predicates by functions.
//!
//! With the functions uninterpreted and the predicates defined by the model, and with a stem `ind!`,
//!
//! - `ind!bodyI` is the body of the I-th clause over its variables, `ind!headI_J` the J-th argument of
//!   its head, and `ind!argI_K_J` that of its K-th body atom;
//! - of the P-th predicate, over its arguments, `ind!measureP_I` is an integer of its measure,
//!   `ind!unfoldP` says that calls have the values of the functions' bodies, and `ind!valueP_C_V` is the
//!   value of a variable of the clause in the C-th case.
//!
//! # Invariant
//! If all questions are valid, every fact of the model has a derivation, and every clause with a head
//! holds. Terms of the witness stand only in definitions over the arguments that the witness names, so
//! what they are does not matter.

use std::fmt::Write;

use super::super::{DerivedText, ProofText};
use super::{Questions, Refusal, Writer, is_supported, wrong};
use crate::certificate::{FunctionSymbols, Functions};
use crate::script::{Changes, Piece, Predicates, pieces, with_names};
use crate::sexp::symbol;
use alphorn_chc::frontend::{Problem, ProblemClause};
use alphorn_term::{Printer, TermId};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

/// The questions of a model by functions that exist.
///
/// # Errors
/// The model is wrong, or not supported.
pub fn function_questions(
    problem: &Problem,
    proof: &ProofText,
    derived: &[DerivedText],
    functions: &Functions,
    others: &str,
    changes: &Changes<'_>,
) -> Result<Questions, Refusal> {
    is_supported(problem)?;
    let mut lines = Vec::with_capacity(problem.predicates.len());
    for (number, predicate) in problem.predicates.iter().enumerate() {
        let mut own = derived.iter().filter(|d| d.slot.predicate == number);
        match (own.next(), own.next()) {
            (Some(line), None) => lines.push(line),
            _ => {
                return wrong(format!(
                    "not one line about the facts of {}",
                    predicate.name
                ));
            }
        }
    }
    let mut writer = FunctionWriter {
        writer: Writer::new(problem, proof, others, changes)?,
        lines,
        functions,
        components: components(problem),
        definitions: String::new(),
    };
    for number in 0..problem.clauses.len() {
        writer.clause(number)?;
    }
    for (number, lemma) in proof.lemmas.iter().enumerate() {
        if lemma.conclusion.is_none() {
            writer.writer.lemma(number, lemma, &mut writer.definitions);
        }
    }
    for predicate in 0..problem.predicates.len() {
        writer.predicate(predicate)?;
    }
    for predicate in 0..problem.predicates.len() {
        writer.facts(predicate)?;
    }
    for number in 0..problem.clauses.len() {
        writer.holds(number)?;
    }
    let model = format!("{}{}", functions.declarations, functions.predicates);
    let parts = pieces(problem, changes, Predicates::Defined(&model));
    let mut commands = String::new();
    for piece in parts.map_err(Refusal::Unsupported)? {
        // The clauses imply the assertions, which is a question of the proof.
        if let Piece::Commands(text) = piece {
            commands.push_str(&text);
        }
    }
    commands.push_str(&changes.own(&writer.definitions));
    let own = writer.writer.questions.into_iter();
    let formulas = own.map(|(what, formula)| (what, changes.definition(&formula)));
    Ok(Questions {
        commands,
        formulas: formulas.collect(),
    })
}

/// By predicate, the number of its strongly connected component of predicates.
fn components(problem: &Problem) -> Vec<usize> {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    let nodes: Vec<NodeIndex> = problem
        .predicates
        .iter()
        .map(|_| graph.add_node(()))
        .collect();
    for clause in &problem.clauses {
        if let Some(head) = &clause.head {
            for atom in &clause.body {
                graph.add_edge(
                    nodes[head.predicate.index()],
                    nodes[atom.predicate.index()],
                    (),
                );
            }
        }
    }
    let mut component = vec![0; nodes.len()];
    // In petgraph, Tarjan's algorithm is recursive and Kosaraju's is not.
    for (number, members) in kosaraju_scc(&graph).into_iter().enumerate() {
        for member in members {
            component[member.index()] = number;
        }
    }
    component
}

/// Writes the definitions and questions.
struct FunctionWriter<'a> {
    writer: Writer<'a>,
    /// By predicate.
    lines: Vec<&'a DerivedText>,
    functions: &'a Functions,
    /// By predicate; a fact may depend on facts of another component only if these do not depend on it.
    components: Vec<usize>,
    definitions: String,
}

impl<'a> FunctionWriter<'a> {
    fn problem_clause(&self, number: usize) -> &'a ProblemClause {
        &self.writer.problem.clauses[number]
    }

    fn name_of(&self, predicate: usize) -> &'a str {
        &self.writer.problem.predicates[predicate].name
    }

    /// Adds a definition, whose name gets the stem.
    fn define(&mut self, name: &str, binders: &str, sort: &str, body: &str) {
        let (stem, binders) = (&self.writer.stem, binders.trim_start());
        writeln!(
            self.definitions,
            "(define-fun {stem}{name} ({binders}) {sort} {body})"
        )
        .expect("string");
    }

    /// Adds the definitions for a clause.
    fn clause(&mut self, number: usize) -> Result<(), Refusal> {
        let clause = self.problem_clause(number);
        let vars: Vec<TermId> = clause.vars.iter().map(|v| v.1).collect();
        let atoms = clause.head.iter().chain(&clause.body);
        let has_head = clause.head.is_some();
        let mut roots: Vec<TermId> = Vec::new();
        for atom in atoms.clone() {
            roots.extend(&atom.args);
        }
        roots.push(clause.constraint);
        let free = |()| Refusal::Unsupported("a clause with other variables".to_owned());
        let (binders, texts) = self.writer.printer.over(&vars, &roots).map_err(free)?;
        let mut texts = texts.into_iter();
        let mut body = "(and true".to_owned();
        for (at, predicate) in atoms.map(|atom| atom.predicate.index()).enumerate() {
            let sorts = self.writer.sorts(predicate);
            let args: Vec<String> = texts.by_ref().take(sorts.len()).collect();
            let is_head = has_head && at == 0;
            for (j, (arg, sort)) in args.iter().zip(&sorts).enumerate() {
                let part = match is_head {
                    true => format!("head{number}_{j}"),
                    false => format!("arg{number}_{}_{j}", at - usize::from(has_head)),
                };
                self.define(&part, &binders, sort, arg);
            }
            if !is_head {
                let args: String = args.iter().map(|arg| format!(" {arg}")).collect();
                write!(body, " {}", self.atom(predicate, &args)).expect("string");
            }
        }
        let constraint = texts.next().unwrap_or_default();
        write!(body, " {constraint})").expect("string");
        self.define(&format!("body{number}"), &binders, "Bool", &body);
        Ok(())
    }

    /// Adds the definitions for a predicate.
    fn predicate(&mut self, predicate: usize) -> Result<(), Refusal> {
        let line = self.lines[predicate];
        let place = format!("the facts of {}", self.name_of(predicate));
        let sorts = self.writer.sorts(predicate);
        let pairs = line.slot.args.iter().zip(&sorts);
        let binders: String = pairs
            .map(|(name, sort)| format!(" ({name} {sort})"))
            .collect();
        let functions: &'a Functions = self.functions;
        let names = functions
            .symbols
            .iter()
            .map(|f| (symbol(&f.shown), f.name.clone()));
        let names: FxHashMap<&str, String> = names.collect();
        let is_function = |name: &String| names.contains_key(symbol(name));
        if line.slot.args.iter().any(is_function) {
            return wrong(format!("{place}: an argument with the name of a function"));
        }
        for (at, term) in line.measure.iter().enumerate() {
            let name = format!("measure{predicate}_{at}");
            self.define(&name, &binders, "Int", &with_names(term, &names));
        }
        self.unfoldings(predicate, &binders, &names)?;
        for (case, (clause, values)) in line.cases.iter().enumerate() {
            let Some(&rule) = self.writer.rules[predicate].get(*clause) else {
                return wrong(format!("{place}: a clause that is not there"));
            };
            let clause = self.problem_clause(rule);
            if clause.vars.len() != values.len() {
                return wrong(format!("{place}: not as many values as variables"));
            }
            let terms = &self.writer.problem.terms;
            let vars = clause.vars.iter().map(|v| terms.sort_of(v.1));
            let sorts: Vec<String> = vars.map(|sort| Printer::new(terms).sort(sort)).collect();
            for (at, (value, sort)) in values.iter().zip(&sorts).enumerate() {
                let name = format!("value{predicate}_{case}_{at}");
                self.define(&name, &binders, sort, &with_names(value, &names));
            }
        }
        Ok(())
    }

    /// Adds the definition that says what calls are.
    fn unfoldings(
        &mut self,
        predicate: usize,
        binders: &str,
        names: &FxHashMap<&str, String>,
    ) -> Result<(), Refusal> {
        let line = self.lines[predicate];
        let place = format!("the facts of {}", self.name_of(predicate));
        let sorts = self.writer.sorts(predicate);
        let mut own = String::new();
        for (j, sort) in sorts.iter().enumerate() {
            write!(own, " ({}a0_{j} {sort})", self.writer.stem).expect("string");
        }
        let args = self.writer.args(0, predicate);
        let mut equations = "(and true".to_owned();
        for (call, (name, terms)) in line.unfoldings.iter().enumerate() {
            let function = self.function(name, &place)?;
            if function.sorts.len() != terms.len() {
                return wrong(format!("{place}: {name} with other arguments"));
            }
            let mut values = String::new();
            for (at, (term, sort)) in terms.iter().zip(&function.sorts).enumerate() {
                let name = format!("call{predicate}_{call}_{at}");
                self.define(&name, binders, sort, &with_names(term, names));
                write!(values, " {}", self.writer.applied(&name, &args)).expect("string");
            }
            let (value, body) = match values.is_empty() {
                true => (function.name.clone(), function.body.clone()),
                false => (
                    format!("({}{values})", function.name),
                    format!("({}{values})", function.body),
                ),
            };
            write!(equations, " (= {value} {body})").expect("string");
        }
        equations.push(')');
        self.define(&format!("unfold{predicate}"), &own, "Bool", &equations);
        Ok(())
    }

    /// The function with this name in the witness.
    fn function(&self, name: &str, place: &str) -> Result<&'a FunctionSymbols, Refusal> {
        let is_it = |f: &&FunctionSymbols| symbol(&f.shown) == symbol(name);
        let found = self.functions.symbols.iter().find(is_it);
        found.ok_or_else(|| Refusal::Wrong(format!("{place}: there is no function {name}")))
    }

    /// A predicate applied to arguments, each with a space before it.
    fn atom(&self, predicate: usize, args: &str) -> String {
        let name = self.writer.names[predicate].clone();
        match args.is_empty() {
            true => name,
            false => format!("({name}{args})"),
        }
    }

    /// Adds the question that each fact of a predicate follows from smaller ones.
    fn facts(&mut self, predicate: usize) -> Result<(), Refusal> {
        let line = self.lines[predicate];
        let place = format!("that facts of {} have derivations", self.name_of(predicate));
        let args = self.writer.args(0, predicate);
        let mut binders = String::new();
        for (j, sort) in self.writer.sorts(predicate).iter().enumerate() {
            write!(binders, " ({}a0_{j} {sort})", self.writer.stem).expect("string");
        }
        let mut cases = String::new();
        for (case, (clause, values)) in line.cases.iter().enumerate() {
            let rule = self.writer.rules[predicate][*clause];
            let mut vars = String::new();
            for at in 0..values.len() {
                let name = format!("value{predicate}_{case}_{at}");
                write!(vars, " {}", self.writer.applied(&name, &args)).expect("string");
            }
            write!(cases, " (and").expect("string");
            for j in 0..self.writer.problem.predicates[predicate].arity() {
                let head = self.writer.applied(&format!("head{rule}_{j}"), &vars);
                write!(cases, " (= {}a0_{j} {head})", self.writer.stem).expect("string");
            }
            let body = self.writer.applied(&format!("body{rule}"), &vars);
            write!(
                cases,
                " {body}{})",
                self.falls(predicate, rule, &vars, &place)?
            )
            .expect("string");
        }
        let fact = self.atom(predicate, &args);
        let unfold = self.writer.applied(&format!("unfold{predicate}"), &args);
        let formula = format!("(=> (and {fact} {unfold}) (or false{cases}))");
        self.writer.add(place, binders.trim_start(), formula)
    }

    /// That the premises of a clause are smaller, for values of its variables; each with a space
    /// before it.
    fn falls(
        &self,
        predicate: usize,
        rule: usize,
        vars: &str,
        place: &str,
    ) -> Result<String, Refusal> {
        let mut falls = String::new();
        for (k, atom) in self.problem_clause(rule).body.iter().enumerate() {
            let other = atom.predicate.index();
            if self.components[other] != self.components[predicate] {
                continue;
            }
            let count = self.lines[predicate].measure.len();
            if count == 0 || self.lines[other].measure.len() != count {
                return wrong(format!("{place}: measures that do not suit each other"));
            }
            let own = self.writer.args(0, predicate);
            let mut premise = String::new();
            for j in 0..self.writer.problem.predicates[other].arity() {
                let arg = self.writer.applied(&format!("arg{rule}_{k}_{j}"), vars);
                write!(premise, " {arg}").expect("string");
            }
            // Lexicographically, from the last integer to the first.
            let mut smaller = "false".to_owned();
            for at in (0..count).rev() {
                let old = self
                    .writer
                    .applied(&format!("measure{predicate}_{at}"), &own);
                let new = self
                    .writer
                    .applied(&format!("measure{other}_{at}"), &premise);
                let below = format!("(and (<= 0 {old}) (< {new} {old}))");
                smaller = format!("(or {below} (and (= {new} {old}) {smaller}))");
            }
            write!(falls, " {smaller}").expect("string");
        }
        Ok(falls)
    }

    /// Adds the question that a clause with a head holds.
    fn holds(&mut self, number: usize) -> Result<(), Refusal> {
        let clause = self.problem_clause(number);
        let Some(head) = clause.head.as_ref().map(|head| head.predicate.index()) else {
            return Ok(());
        };
        let bodies: Vec<usize> = clause.body.iter().map(|a| a.predicate.index()).collect();
        let mut binders = String::new();
        let mut vars = String::new();
        let terms = &self.writer.problem.terms;
        for (at, (_, var)) in clause.vars.iter().enumerate() {
            let sort = Printer::new(terms).sort(terms.sort_of(*var));
            write!(binders, " ({}c_{at} {sort})", self.writer.stem).expect("string");
            write!(vars, " {}c_{at}", self.writer.stem).expect("string");
        }
        let args = |part: String, predicate: usize| {
            let arity = self.writer.problem.predicates[predicate].arity();
            let args = (0..arity).map(|j| self.writer.applied(&format!("{part}_{j}"), &vars));
            args.map(|arg| format!(" {arg}")).collect::<String>()
        };
        let head_args = args(format!("head{number}"), head);
        let mut known = self.writer.applied(&format!("body{number}"), &vars);
        let unfold = self.writer.applied(&format!("unfold{head}"), &head_args);
        write!(known, " {unfold}{}", self.lemmas(head, &head_args)).expect("string");
        for (k, predicate) in bodies.into_iter().enumerate() {
            let own = args(format!("arg{number}_{k}"), predicate);
            known.push_str(&self.lemmas(predicate, &own));
        }
        let goal = self.atom(head, &head_args);
        let formula = format!("(=> (and {known}) {goal})");
        let place = format!("clause {number} in the model");
        self.writer.add(place, binders.trim_start(), formula)
    }

    /// The lemmas about one fact, each with a space before it.
    fn lemmas(&self, predicate: usize, args: &str) -> String {
        let lemmas = self.writer.proof.lemmas.iter().enumerate();
        let own = lemmas
            .filter(|(_, lemma)| lemma.conclusion.is_none())
            .filter(|(_, lemma)| matches!(&lemma.slots[..], [slot] if slot.predicate == predicate));
        let own = own.map(|(at, _)| self.writer.applied(&format!("lemma{at}"), args));
        own.map(|instance| format!(" {instance}")).collect()
    }
}
