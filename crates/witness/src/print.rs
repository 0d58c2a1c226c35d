//! Printing of witnesses.
//!
//! A **model** is one S-expression, `( (define-fun P ((x!0 Int) …) Bool body) … )`: each declared
//! predicate in the order of the declarations, with operators of SMT-LIB only. If it needs sizes of
//! datatypes or other recursive functions, their `define-fun-rec`s come first, and their
//! certificate follows in comments (`certificate`). The text's own recursive functions have a
//! certificate, but no definition, unless the model defines them by other functions. The definitions
//! of sorts that the text only declares come before all others.
//!
//! A **refutation** is a derivation of `false` in numbered ground steps, each after its premises:
//!
//! ```text
//! 1: P(0, 1) by clause 1 [x = 0, y = 1]
//! 2: P(1, (- 2)) by clause 2.1 [x = 0, y = 1, z = (- 2)] from 1
//! 3: false by clause 3 [x = 1, y = (- 2)] from 2
//! ```
//!
//! A line has the step's number; the derived fact, where `f(a, b)` for a recursive function of the
//! file says that `f(a)` is `b`; the clause, as the number of its command among all assertions,
//! rules, queries and definitions of recursive functions of the file from 1, followed by `.k` for
//! the k-th of several clauses of a command; the values of all variables of the clause, in the
//! order of their quantifiers; and the steps that derive the body atoms, in their order. Values are
//! SMT-LIB terms, but for heaps, which are tables (`tables`). There are no parentheses without arguments, no brackets without variables, and no
//! `from` without body atoms.
//! If the body has disjunctions over predicates, the steps that derive the atoms of the alternatives
//! that hold come last. A fact `not P(…)` is the negation of an atom: if a clause has several heads,
//! some predicates are complemented.
//!
//! As **JSON** a refutation is one object,
//!
//! ```text
//! {"refutation": [{"step": 2, "fact": {"predicate": "P", "arguments": ["1", "(- 2)"]},
//!   "clause": 2, "part": 1, "line": 14, "values": [{"variable": "x", "value": "0"}, …],
//!   "premises": [1]}, …]}
//! ```
//!
//! where a `fact` of `null` is `false`, one with `"negated": true` is a negation, and `line` is the
//! first line of the clause's command. Of several variables of a clause with the name `x` the second
//! is `x!2`, the third `x!3` and so on ([`unique_names`]).
//!
//! A refutation that is a counterexample to a goal has lines `; measure f (0)` behind it, from which
//! it follows that the text's functions exist; in JSON they are the array `measures`.
//!
//! As a **proof term of Z3** it is printed by `z3_proof`.
//!
//! # Invariant
//! `parse` reads the text of a model, and a refutation as text or JSON.

use std::fmt::Write;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use super::derivations::derived_line;
use super::recursive::{functions_of, is_graph};
use super::sexp::{TokenKind, Tokens, symbol};
use super::tables::table;
use super::{Fact, FunctionModel, Lemma, Model, Refutation};
use alphorn_chc::PredicateId;
use alphorn_chc::frontend::{Problem, TextFunction};
use alphorn_term::{FunctionId, Op, Printer, SortId, TermId, TermStore, quote_symbol};

/// The format of a refutation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ProofFormat {
    /// Lines of text.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// A proof term of Z3.
    Z3,
}

/// The text of a model.
#[derive(Clone, Debug, Default)]
pub struct PrintedModel {
    /// Commands: definitions of sizes and functions, then of each declared predicate.
    pub definitions: Vec<String>,
    /// Lines of the certificate for the functions, without line breaks; none without functions.
    pub certificate: Vec<String>,
}

/// The text of a model.
///
/// # Errors
/// The formula of a predicate, function or lemma has another sort, or other free variables than its
/// arguments; the name of a size occurs in the problem; a part of the certificate is malformed.
pub fn printed_model(problem: &Problem, model: &Model) -> Result<PrintedModel, String> {
    let functions =
        functions_of(problem, model).ok_or("a function of the text has no definition")?;
    let printer = ModelPrinter::new(problem, model)?;
    let mut definitions: Vec<String> = problem.sort_definitions().map(str::to_owned).collect();
    definitions.extend(problem.constant_definitions().map(str::to_owned));
    definitions.extend(printer.sizes.iter().map(|s| s.0.clone()));
    for group in &printer.groups {
        // The text defines its own functions.
        if group.iter().all(|&id| printer.of_text(id).is_none()) {
            definitions.push(printer.functions(group)?);
        }
    }
    for (function, id) in problem.functions.iter().zip(functions) {
        if id != function.function {
            definitions.push(printer.as_function(function, id)?);
        }
    }
    for (index, predicate) in problem.predicates.iter().enumerate() {
        let id = PredicateId(u32::try_from(index).expect("fewer than 2^32 predicates"));
        if is_graph(problem, id) {
            continue;
        }
        let body = model.definitions.get(&id).copied().unwrap_or(TermId::TRUE);
        let body = match problem.complemented.contains(&id) {
            true => problem.terms.not(body),
            false => body,
        };
        if printer.terms.sort_of(body) != SortId::BOOL {
            return Err(format!(
                "the definition of {} is not a formula",
                predicate.name
            ));
        }
        let (params, body) = printer
            .over(&predicate.params, &[body])
            .map_err(|()| other_variables(&predicate.name))?;
        let name = quote_symbol(&predicate.name);
        definitions.push(format!("(define-fun {name} ({params}) Bool {})", body[0]));
    }
    Ok(PrintedModel {
        definitions,
        certificate: printer.certificate(model)?,
    })
}

/// The text of a model by functions; the certificate has their measures, and why facts have derivations.
///
/// # Errors
/// As [`printed_model`].
pub fn printed_functions(problem: &Problem, model: &FunctionModel) -> Result<PrintedModel, String> {
    let plain = Model {
        definitions: model.definitions.clone(),
        lemmas: Vec::new(),
    };
    let mut printed = printed_model(problem, &plain)?;
    let printer = ModelPrinter::new(problem, &plain)?;
    printed.certificate.clear();
    for &id in printer.groups.iter().flatten() {
        let measure = model.measures.get(&id).map_or(&[][..], Vec::as_slice);
        let (_, terms) = printer
            .over(&printer.terms.function(id).params, measure)
            .map_err(|()| "a measure with free variables that are not parameters".to_owned())?;
        let name = &printer.names[&id];
        let line = format!("; measure {name} ({})", terms.join(" "));
        printed.certificate.push(line);
    }
    for derived in &model.derived {
        printed
            .certificate
            .push(derived_line(problem, &printer, derived)?);
    }
    match printed
        .certificate
        .iter()
        .find(|line| line.contains(['\n', '\r']))
    {
        Some(line) => Err(format!("a symbol with a line break: {line:?}")),
        None => Ok(printed),
    }
}

/// The definitions of the text's own functions, as commands of a model, callees first.
///
/// # Errors
/// A body has other free variables than its parameters.
pub fn text_functions(problem: &Problem) -> Result<Vec<String>, String> {
    let printer = ModelPrinter::new(problem, &Model::default())?;
    let groups = problem.function_groups().into_iter().map(|group| {
        let ids: Vec<FunctionId> = group
            .iter()
            .map(|&at| problem.functions[at].function)
            .collect();
        printer.functions(&ids)
    });
    groups.collect()
}

/// Prints the parts of a model, with names that do not occur in the problem.
pub(super) struct ModelPrinter<'a> {
    problem: &'a Problem,
    terms: &'a TermStore,
    /// Prefixes of the names of arguments and bound variables.
    argument: String,
    bound: String,
    /// Commands that define sizes, with their symbols.
    sizes: Vec<(String, Vec<String>)>,
    /// Functions by group of mutual recursion, callees first.
    groups: Vec<Vec<FunctionId>>,
    /// Symbols of functions.
    names: FxHashMap<FunctionId, String>,
}

impl<'a> ModelPrinter<'a> {
    pub(super) fn new(problem: &'a Problem, model: &Model) -> Result<Self, String> {
        let terms = &*problem.terms;
        let (argument, bound) = prefixes(terms);
        let mut roots: Vec<TermId> = model.definitions.values().copied().collect();
        for lemma in &model.lemmas {
            roots.push(lemma.statement);
            for case in &lemma.cases {
                roots.push(case.guard);
                roots.extend(case.induction.iter().flatten());
                roots.extend(case.instances.iter().flat_map(|(_, terms)| terms));
                roots.extend(&case.unfoldings);
            }
        }
        let groups = terms.function_groups(&roots);
        roots.extend(groups.iter().flatten().map(|&f| terms.function(f).body));
        let sizes = terms.size_definitions(&roots);
        let own = problem.functions.iter();
        let own = own.map(|f| (f.function, quote_symbol(&f.name)));
        let mut names: FxHashMap<FunctionId, String> = own.collect();
        if !sizes.is_empty() || !groups.is_empty() {
            let mut taken: FxHashSet<String> = Tokens::new(&problem.text, 0)
                .filter(|token| token.kind == TokenKind::Atom)
                .map(|token| symbol(&problem.text[token.range]).to_owned())
                .collect();
            for name in sizes.iter().flat_map(|(_, symbols)| symbols) {
                if !taken.insert(symbol(name).to_owned()) {
                    return Err(format!("the problem has another symbol {name}"));
                }
            }
            for &id in groups.iter().flatten() {
                if names.contains_key(&id) {
                    continue;
                }
                let mut name = terms.function(id).name.clone();
                // Unlike names of arguments and of shared terms, which end with a digit.
                while !name.ends_with('!') || taken.contains(&name) {
                    name.push('!');
                }
                names.insert(id, quote_symbol(&name));
                taken.insert(name);
            }
        }
        Ok(ModelPrinter {
            problem,
            terms,
            argument,
            bound,
            sizes,
            groups,
            names,
        })
    }

    /// The same with another prefix of the names of arguments.
    pub(super) fn with_arguments(self, argument: String) -> Self {
        ModelPrinter { argument, ..self }
    }

    /// The name of the argument at a position, as [`over`](Self::over) writes it.
    pub(super) fn argument(&self, position: usize) -> String {
        format!("{}{position}", self.argument)
    }

    /// The text of binders for `vars` and of terms; an error if a term has other free variables.
    pub(super) fn over(
        &self,
        vars: &[TermId],
        roots: &[TermId],
    ) -> Result<(String, Vec<String>), ()> {
        let terms = self.terms;
        let own: FxHashSet<TermId> = vars.iter().copied().collect();
        if terms.free_vars(roots).iter().any(|v| !own.contains(v)) {
            return Err(());
        }
        let mut printer = Printer::new(terms);
        for (&id, name) in &self.names {
            printer.rename_function(id, name.as_str());
        }
        let mut head = String::new();
        for (position, &var) in vars.iter().enumerate() {
            let name = self.argument(position);
            let space = if position == 0 { "" } else { " " };
            let sort = printer.sort(terms.sort_of(var));
            write!(head, "{space}({name} {sort})").expect("string");
            printer.rename(var, name);
        }
        if roots.iter().any(|&root| terms.node(root).has_quantifier) {
            // A bound variable must not have the name of an argument.
            let mut count = 0;
            terms.post_order(roots, |t| {
                if let Op::Forall(vars) | Op::Exists(vars) = terms.op(t) {
                    for &var in vars {
                        printer.rename(var, format!("{}{count}", self.bound));
                        count += 1;
                    }
                }
            });
        }
        Ok((head, roots.iter().map(|&root| printer.term(root)).collect()))
    }

    /// The command that defines a group of functions.
    fn functions(&self, group: &[FunctionId]) -> Result<String, String> {
        let mut heads = Vec::new();
        let mut bodies = Vec::new();
        for id in group {
            let function = self.terms.function(*id);
            let body = self.of_text(*id).map_or(function.body, |own| own.body);
            let (params, body) = self
                .over(&function.params, &[body])
                .map_err(|()| other_variables(&function.name))?;
            let sort = Printer::new(self.terms).sort(function.result);
            heads.push(format!("{} ({params}) {sort}", self.names[id]));
            bodies.extend(body);
        }
        Ok(match (heads.as_slice(), bodies.as_slice()) {
            ([head], [body]) => format!("(define-fun-rec {head} {body})"),
            _ => {
                let heads: Vec<String> = heads.iter().map(|head| format!("({head})")).collect();
                let (heads, bodies) = (heads.join(" "), bodies.join(" "));
                format!("(define-funs-rec ({heads}) ({bodies}))")
            }
        })
    }

    /// The function of the text with this id.
    fn of_text(&self, id: FunctionId) -> Option<&'a TextFunction> {
        let functions = &self.problem.functions;
        let at = functions.binary_search_by_key(&id, |f| f.function).ok()?;
        Some(&functions[at])
    }

    /// The command that defines a function of the text by another function.
    fn as_function(&self, function: &TextFunction, id: FunctionId) -> Result<String, String> {
        let terms = self.terms;
        let params = &terms.function(id).params;
        let (binders, body) = self
            .over(params, &[terms.call(id, params)])
            .map_err(|()| other_variables(&function.name))?;
        let name = quote_symbol(&function.name);
        let sort = Printer::new(terms).sort(terms.function(id).result);
        Ok(format!(
            "(define-fun {name} ({binders}) {sort} {})",
            body[0]
        ))
    }

    /// The lines for measures and lemmas.
    fn certificate(&self, model: &Model) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        for id in self.groups.iter().flatten() {
            let measure = positions(&self.terms.function(*id).measure);
            lines.push(format!("; measure {} {measure}", self.names[id]));
        }
        let mut names: Vec<String> = Vec::new();
        for lemma in &model.lemmas {
            let mut name = lemma.name.clone();
            while names.contains(&quote_symbol(&name)) {
                name.push('!');
            }
            names.push(quote_symbol(&name));
        }
        for (lemma, name) in model.lemmas.iter().zip(&names) {
            lines.push(self.lemma(lemma, name, &names)?);
        }
        match lines.iter().find(|line| line.contains(['\n', '\r'])) {
            Some(line) => Err(format!("a symbol with a line break: {line:?}")),
            None => Ok(lines),
        }
    }

    /// The line for a lemma of this name; `names` are those of all lemmas.
    fn lemma(&self, lemma: &Lemma, name: &str, names: &[String]) -> Result<String, String> {
        let foreign = |()| format!("lemma {name} has free variables that are not its own");
        let print = |roots: &[TermId]| self.over(&lemma.vars, roots).map_err(foreign);
        let (vars, statement) = print(&[lemma.statement])?;
        let mut line = format!("; lemma {name} ({vars}) {}", statement[0]);
        if !lemma.measure.is_empty() {
            write!(line, " :measure {}", positions(&lemma.measure)).expect("string");
        }
        for case in &lemma.cases {
            write!(line, " :case ({}", print(&[case.guard])?.1[0]).expect("string");
            let mut induction = Vec::new();
            for terms in &case.induction {
                induction.push(format!("({})", print(terms)?.1.join(" ")));
            }
            let mut instances = Vec::new();
            for (other, terms) in &case.instances {
                let Some(other) = names.get(*other) else {
                    return Err(format!("lemma {name} uses a lemma that does not exist"));
                };
                let terms = print(terms)?.1;
                instances.push(format!(
                    "({})",
                    [std::slice::from_ref(other), &*terms].concat().join(" ")
                ));
            }
            if case
                .unfoldings
                .iter()
                .any(|&t| !matches!(self.terms.op(t), Op::Call(_) | Op::Size(_)))
            {
                return Err(format!("lemma {name} unfolds a term that is not a call"));
            }
            let unfoldings = print(&case.unfoldings)?.1;
            for (keyword, items) in [
                (":induction", induction),
                (":use", instances),
                (":unfold", unfoldings),
            ] {
                if !items.is_empty() {
                    write!(line, " {keyword} ({})", items.join(" ")).expect("string");
                }
            }
            line.push(')');
        }
        Ok(line)
    }
}

/// A message about a definition.
fn other_variables(name: &str) -> String {
    format!("the definition of {name} has free variables that are not its arguments")
}

fn positions(list: &[usize]) -> String {
    let list: Vec<String> = list.iter().map(usize::to_string).collect();
    format!("({})", list.join(" "))
}

/// Prefixes of names for arguments and bound variables, which no constructor or selector has.
fn prefixes(terms: &TermStore) -> (String, String) {
    let mut stems = ("x!".to_owned(), "q!".to_owned());
    for stem in [&mut stems.0, &mut stems.1] {
        let taken = |stem: &str| {
            terms.datatype_ids().any(|id| {
                terms.datatype(id).constructors.iter().any(|c| {
                    c.name.starts_with(stem)
                        || c.fields.iter().any(|f| f.selector.starts_with(stem))
                })
            })
        };
        while taken(stem) {
            stem.push('!');
        }
    }
    stems
}

/// A model as it is printed.
pub fn model_text(model: &PrintedModel) -> String {
    let mut out = String::from("(\n");
    for definition in &model.definitions {
        writeln!(out, "  {definition}").expect("string");
    }
    out.push_str(")\n");
    for line in &model.certificate {
        writeln!(out, "{line}").expect("string");
    }
    out
}

/// Names of clauses in refutations: the number of the command and, for a command with several
/// clauses, the clause's number in it.
pub struct ClauseNames {
    /// By index of the clause: the number of the command, and the clause's number in it from 1.
    parts: Vec<(usize, usize)>,
    /// The number of clauses, by number of the command.
    counts: FxHashMap<usize, usize>,
}

impl ClauseNames {
    /// The names of a problem's clauses.
    pub fn new(problem: &Problem) -> Self {
        let mut counts: FxHashMap<usize, usize> = FxHashMap::default();
        let parts = problem
            .clauses
            .iter()
            .map(|clause| {
                let count = counts.entry(clause.number).or_default();
                *count += 1;
                (clause.number, *count)
            })
            .collect();
        ClauseNames { parts, counts }
    }

    /// The name of the clause with this index: `3`, or `3.1`.
    pub fn name(&self, clause: usize) -> String {
        match self.parts[clause] {
            (number, part) if self.counts[&number] > 1 => format!("{number}.{part}"),
            (number, _) => number.to_string(),
        }
    }

    /// The indexes of clauses by the two numbers of their names; the second is 1 for the only
    /// clause of a command.
    pub fn by_name(&self) -> FxHashMap<(usize, usize), usize> {
        let names = self.parts.iter().copied();
        names.enumerate().map(|(i, name)| (name, i)).collect()
    }
}

/// Names of a clause's variables that differ from each other: of several variables with one name
/// the n-th has `!n` after it, with as many `!` as make the name new.
pub fn unique_names(vars: &[(Rc<str>, TermId)]) -> Vec<String> {
    let mut taken: FxHashSet<String> = vars.iter().map(|v| v.0.to_string()).collect();
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    let unique = vars.iter().map(|(name, _)| {
        let count = counts.entry(name).or_default();
        *count += 1;
        if *count == 1 {
            return name.to_string();
        }
        let mut stem = format!("{name}!");
        while !taken.insert(format!("{stem}{count}")) {
            stem.push('!');
        }
        format!("{stem}{count}")
    });
    unique.collect()
}

/// Values as text, each printed once.
struct Values<'a> {
    problem: &'a Problem,
    printer: Printer<'a>,
    memo: FxHashMap<TermId, String>,
}

impl<'a> Values<'a> {
    fn new(problem: &'a Problem) -> Self {
        Values {
            problem,
            printer: Printer::new(&problem.terms),
            memo: FxHashMap::default(),
        }
    }

    fn text(&mut self, value: TermId) -> &str {
        let Values {
            problem,
            printer,
            memo,
        } = self;
        memo.entry(value).or_insert_with(|| {
            let table = table(problem, printer, value);
            table.unwrap_or_else(|| printer.term(value))
        })
    }
}

/// A refutation as text. It has to have passed `step_check`.
pub fn refutation_text(problem: &Problem, refutation: &Refutation) -> String {
    let names = ClauseNames::new(problem);
    let mut values = Values::new(problem);
    let mut out = String::new();
    for (index, step) in refutation.steps.iter().enumerate() {
        write!(out, "{}: ", index + 1).expect("string");
        match &step.fact {
            None => out.push_str("false"),
            Some(fact) => write_fact(&mut out, problem, &mut values, fact),
        }
        let clause = step.clause.0 as usize;
        write!(out, " by clause {}", names.name(clause)).expect("string");
        let vars = &problem.clauses[clause].vars;
        for (position, (name, var)) in vars.iter().enumerate() {
            out.push_str(if position == 0 { " [" } else { ", " });
            out.push_str(&quote_symbol(name));
            out.push_str(" = ");
            out.push_str(values.text(step.values[var]));
        }
        if !vars.is_empty() {
            out.push(']');
        }
        for (position, premise) in step.premises.iter().enumerate() {
            let before = if position == 0 { " from " } else { ", " };
            write!(out, "{before}{}", premise + 1).expect("string");
        }
        out.push('\n');
    }
    out
}

fn write_fact(out: &mut String, problem: &Problem, values: &mut Values, fact: &Fact) {
    if problem.complemented.contains(&fact.predicate) {
        out.push_str("not ");
    }
    out.push_str(&quote_symbol(
        &problem.predicates[fact.predicate.index()].name,
    ));
    for (position, &value) in fact.values.iter().enumerate() {
        out.push_str(if position == 0 { "(" } else { ", " });
        out.push_str(values.text(value));
    }
    if !fact.values.is_empty() {
        out.push(')');
    }
}

/// A refutation as JSON, on one line, with the lines for the measures of functions. It has to have
/// passed `step_check`.
pub fn refutation_json(problem: &Problem, refutation: &Refutation, measures: &[String]) -> String {
    let names = ClauseNames::new(problem);
    let mut values = Values::new(problem);
    let mut steps: Vec<Value> = Vec::with_capacity(refutation.steps.len());
    for (index, step) in refutation.steps.iter().enumerate() {
        let fact = step.fact.as_ref().map(|fact| {
            let arguments = fact.values.iter().map(|&v| Value::from(values.text(v)));
            let arguments: Vec<Value> = arguments.collect();
            let name = &problem.predicates[fact.predicate.index()].name;
            match problem.complemented.contains(&fact.predicate) {
                true => json!({ "predicate": name, "arguments": arguments, "negated": true }),
                false => json!({ "predicate": name, "arguments": arguments }),
            }
        });
        let index_of = step.clause.0 as usize;
        let clause = &problem.clauses[index_of];
        let (number, part) = names.parts[index_of];
        let variables = unique_names(&clause.vars);
        let assigned: Vec<Value> = variables
            .iter()
            .zip(&clause.vars)
            .map(|(name, (_, var))| json!({"variable": name, "value": values.text(step.values[var])}))
            .collect();
        let premises: Vec<usize> = step.premises.iter().map(|p| p + 1).collect();
        steps.push(json!({
            "step": index + 1,
            "fact": fact,
            "clause": number,
            "part": part,
            "line": problem.commands[clause.command].line,
            "values": assigned,
            "premises": premises,
        }));
    }
    let mut out = match measures {
        [] => json!({ "refutation": steps }),
        measures => json!({ "refutation": steps, "measures": measures }),
    }
    .to_string();
    out.push('\n');
    out
}
