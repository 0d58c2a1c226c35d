//! Witnesses as text.
//!
//! A **model** is one S-expression, `( (define-fun P ((x!0 Int) …) Bool body) … )`: every declared
//! predicate in the order of declaration, under its own name, in standard operators only. Where it
//! needs sizes of values of recursive datatypes or other recursive functions, `define-fun-rec`s of these
//! come first, and what is to be known of the functions follows in comments (see `certificate`).
//!
//! A **refutation** is a derivation of `false` in numbered ground steps, premises first:
//!
//! ```text
//! 1: P(0, 1) by clause 1 [x = 0, y = 1]
//! 2: P(1, (- 2)) by clause 2.1 [x = 0, y = 1, z = (- 2)] from 1
//! 3: false by clause 3 [x = 1, y = (- 2)] from 2
//! ```
//!
//! A line is the step's number, the derived fact, the clause as the number of its command among
//! all assertions (or rules and queries) of the file from 1, followed by `.k` for the k-th clause
//! of a command that has several, the values of all of the clause's variables in the order of
//! their quantifiers, and the steps that derive the body's atoms, in the body's order. Values are
//! SMT-LIB terms. A nullary predicate stands alone, without parentheses; so does a clause without
//! variables without brackets, and one without body atoms without `from`.
//!
//! As **JSON** the same is one object,
//!
//! ```text
//! {"refutation": [{"step": 2, "fact": {"predicate": "P", "arguments": ["1", "(- 2)"]},
//!   "clause": 2, "part": 1, "line": 14, "values": [{"variable": "x", "value": "0"}, …],
//!   "premises": [1]}, …]}
//! ```
//!
//! where a `fact` of `null` is `false`, and `line` is where the clause's command begins.
//!
//! As a **proof of Z3** it has a form of its own, see `z3_proof`.
//!
//! Invariant: what is printed here can be read back (see `parse`), and has size linear in the
//! witness.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use super::sexp::{TokenKind, Tokens, symbol};
use super::{Fact, Lemma, Model, Refutation};
use alphorn_chc::PredicateId;
use alphorn_chc::frontend::Problem;
use alphorn_term::{FunctionId, Op, Printer, SortId, TermId, TermStore, quote_symbol};

/// How refutations are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ProofFormat {
    #[default]
    Text,
    Json,
    /// As Z3 prints its proofs (see `z3_proof`).
    Z3,
}

/// A model as it is printed.
#[derive(Clone, Debug, Default)]
pub struct PrintedModel {
    /// Commands: sizes and functions, then each declared predicate, in the order of declaration.
    pub definitions: Vec<String>,
    /// Lines after the definitions that certify the functions; none where there are none.
    pub certificate: Vec<String>,
}

/// The definitions of a model, and its certificate.
///
/// # Errors
/// A predicate, function or lemma, by its name, whose formula is of another sort or not over its
/// arguments alone; a name that means something else in the problem.
pub fn printed_model(problem: &Problem, model: &Model) -> Result<PrintedModel, String> {
    let printer = ModelPrinter::new(problem, model)?;
    let mut definitions: Vec<String> = printer.sizes.iter().map(|s| s.0.clone()).collect();
    for group in &printer.groups {
        definitions.push(printer.functions(group)?);
    }
    for (index, predicate) in problem.predicates.iter().enumerate() {
        let id = PredicateId(u32::try_from(index).expect("fewer than 2^32 predicates"));
        let body = model.definitions.get(&id).copied().unwrap_or(TermId::TRUE);
        if printer.terms.sort_of(body) != SortId::BOOL {
            return Err(format!("{} is defined by no formula", predicate.name));
        }
        let (params, body) = printer
            .over(&predicate.params, &[body])
            .map_err(|()| format!("{} is defined over more than its arguments", predicate.name))?;
        let name = quote_symbol(&predicate.name);
        definitions.push(format!("(define-fun {name} ({params}) Bool {})", body[0]));
    }
    Ok(PrintedModel {
        definitions,
        certificate: printer.certificate(model)?,
    })
}

/// What prints the parts of a model, with names that the problem does not use.
struct ModelPrinter<'a> {
    terms: &'a TermStore,
    argument: String,
    bound: String,
    /// Commands that define sizes, with their symbols.
    sizes: Vec<(String, Vec<String>)>,
    /// In the order in which they can be read.
    groups: Vec<Vec<FunctionId>>,
    /// Symbols of functions.
    names: FxHashMap<FunctionId, String>,
}

impl<'a> ModelPrinter<'a> {
    fn new(problem: &'a Problem, model: &Model) -> Result<Self, String> {
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
        let mut names = FxHashMap::default();
        if !sizes.is_empty() || !groups.is_empty() {
            let mut taken: FxHashSet<String> = Tokens::new(&problem.text, 0)
                .filter(|token| token.kind == TokenKind::Atom)
                .map(|token| symbol(&problem.text[token.range]).to_owned())
                .collect();
            for name in sizes.iter().flat_map(|(_, symbols)| symbols) {
                if !taken.insert(symbol(name).to_owned()) {
                    return Err(format!("{name} means something else in the problem"));
                }
            }
            for &id in groups.iter().flatten() {
                let mut name = terms.function(id).name.clone();
                // Names of arguments and of what is shared end with a digit.
                while !name.ends_with('!') || taken.contains(&name) {
                    name.push('!');
                }
                names.insert(id, quote_symbol(&name));
                taken.insert(name);
            }
        }
        Ok(ModelPrinter {
            terms,
            argument,
            bound,
            sizes,
            groups,
            names,
        })
    }

    /// Variables with their sorts, and terms over these alone.
    fn over(&self, vars: &[TermId], roots: &[TermId]) -> Result<(String, Vec<String>), ()> {
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
            let name = format!("{}{position}", self.argument);
            let space = if position == 0 { "" } else { " " };
            let sort = printer.sort(terms.sort_of(var));
            write!(head, "{space}({name} {sort})").expect("string");
            printer.rename(var, name);
        }
        if roots.iter().any(|&root| terms.node(root).has_quantifier) {
            // Bound variables must not capture arguments.
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

    /// The command that defines functions together.
    fn functions(&self, group: &[FunctionId]) -> Result<String, String> {
        let mut heads = Vec::new();
        let mut bodies = Vec::new();
        for id in group {
            let function = self.terms.function(*id);
            let (params, body) = self
                .over(&function.params, &[function.body])
                .map_err(|()| {
                    format!("{} is defined over more than its arguments", function.name)
                })?;
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

    /// Measures and lemmas, as lines.
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
            lines.push(self.lemma(lemma, &names)?);
        }
        match lines.iter().find(|line| line.contains(['\n', '\r'])) {
            Some(line) => Err(format!("a symbol with a line break: {line:?}")),
            None => Ok(lines),
        }
    }

    /// A lemma, the last of those with these names.
    fn lemma(&self, lemma: &Lemma, names: &[String]) -> Result<String, String> {
        let name = &names[names.len() - 1];
        let foreign = |()| format!("lemma {name} is over more than its variables");
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
                let Some(other) = names[..names.len() - 1].get(*other) else {
                    return Err(format!("lemma {name} uses one that is not before it"));
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
                return Err(format!("lemma {name} unfolds what is no call"));
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

fn positions(list: &[usize]) -> String {
    let list: Vec<String> = list.iter().map(usize::to_string).collect();
    format!("({})", list.join(" "))
}

/// Stems of names for arguments and bound variables that no constructor or selector begins with.
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

/// A model as the user gets it.
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

/// How clauses are named in refutations: the number of the command and, where the command has
/// several clauses, which of them.
pub struct ClauseNames {
    /// By index of the clause: number of the command, position in it from 1.
    parts: Vec<(usize, usize)>,
    /// Number of clauses by number of the command.
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

    /// The clause's name: `3`, or `3.1`.
    pub fn name(&self, clause: usize) -> String {
        match self.parts[clause] {
            (number, part) if self.counts[&number] > 1 => format!("{number}.{part}"),
            (number, _) => number.to_string(),
        }
    }

    /// Number and part of each clause, to index them by name. A part of 1 may be left out where
    /// it is the only one.
    pub fn by_name(&self) -> FxHashMap<(usize, usize), usize> {
        let names = self.parts.iter().copied();
        names.enumerate().map(|(i, name)| (name, i)).collect()
    }
}

/// Values as text, each printed once.
struct Values<'a> {
    printer: Printer<'a>,
    memo: FxHashMap<TermId, String>,
}

impl<'a> Values<'a> {
    fn new(problem: &'a Problem) -> Self {
        Values {
            printer: Printer::new(&problem.terms),
            memo: FxHashMap::default(),
        }
    }

    fn text(&mut self, value: TermId) -> &str {
        self.memo
            .entry(value)
            .or_insert_with(|| self.printer.term(value))
    }
}

/// A refutation as text. Only for one that has passed its check.
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

/// A refutation as JSON, on one line. Only for one that has passed its check.
pub fn refutation_json(problem: &Problem, refutation: &Refutation) -> String {
    let names = ClauseNames::new(problem);
    let mut values = Values::new(problem);
    let mut steps: Vec<Value> = Vec::with_capacity(refutation.steps.len());
    for (index, step) in refutation.steps.iter().enumerate() {
        let fact = step.fact.as_ref().map(|fact| {
            let arguments = fact.values.iter().map(|&v| Value::from(values.text(v)));
            let arguments: Vec<Value> = arguments.collect();
            let name = &problem.predicates[fact.predicate.index()].name;
            json!({ "predicate": name, "arguments": arguments })
        });
        let index_of = step.clause.0 as usize;
        let clause = &problem.clauses[index_of];
        let (number, part) = names.parts[index_of];
        let assigned: Vec<Value> = clause
            .vars
            .iter()
            .map(|(name, var)| json!({"variable": name, "value": values.text(step.values[var])}))
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
    let mut out = json!({ "refutation": steps }).to_string();
    out.push('\n');
    out
}
