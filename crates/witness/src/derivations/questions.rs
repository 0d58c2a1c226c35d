//! The questions of a proof, as closed formulas over definitions that its clauses and lemmas get.
//!
//! With a stem `ind!` that occurs neither in the problem nor in the proof,
//!
//! - `ind!clauseI` is the I-th clause, a closed formula
//!   `(forall ((ind!x0 S) …) (=> (and true B1 … Bn φ) H))`, and `ind!instI` its matrix as a function
//!   of its variables;
//! - `ind!ruleI` relates its variables, the arguments of its head `ind!h0 …` and those of its body
//!   atoms `ind!b0_0 …`;
//! - `ind!lemmaI` is a lemma's statement over the arguments of its slots; of a lemma that concludes a
//!   fact, it is `ind!premiseI`, and `ind!conclusionI_J` are the arguments of the fact (`atoms`);
//! - in the questions `ind!aI_J` is the J-th argument of the context's I-th atom, and `ind!cI_J` the
//!   J-th variable of the clause by which that atom was split;
//! - `ind!domainI` is the domain of a statement of totality, over the inputs (`totality`).
//!
//! For a model by functions there are other definitions and questions (`functions`).
//!
//! # Invariant
//! If all questions are valid and the checks here pass, the least model of the clauses satisfies the
//! text's assertions. Leaves speak of no predicate, unless a lemma's statement does.

mod atoms;
mod functions;
mod totality;

pub use functions::function_questions;

use std::cmp::Ordering;
use std::fmt::Write;
use std::ops::Range;

use super::super::print::ModelPrinter;
use super::super::script::{Changes, Piece, Predicates, pieces};
use super::order::compare_derivations;
use super::{LemmaText, ProofText, TotalText};
use crate::limits::LIMITS;
use crate::sexp::{elements, expression, symbol};
use crate::types::{Instance, Model, ProofNode};
use alphorn_chc::frontend::{Dialect, Problem, ProblemClause};
use alphorn_term::{Printer, TermId};

/// Why there are no questions.
pub enum Refusal {
    /// The proof is wrong.
    Wrong(String),
    /// Proofs about such problems, or of this size, are not supported.
    Unsupported(String),
}

fn wrong<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Wrong(message.into()))
}

/// The commands and questions of a proof.
pub struct Questions {
    /// The problem's declarations, and definitions for clauses and lemmas.
    pub commands: String,
    /// Closed formulas that have to be valid, each with what it says.
    pub formulas: Vec<(String, String)>,
}

/// The questions of a proof, with the problem's symbols changed as `changes` says.
///
/// # Errors
/// The proof is wrong, or not supported.
pub fn questions(
    problem: &Problem,
    proof: &ProofText,
    changes: &Changes<'_>,
) -> Result<Questions, Refusal> {
    is_supported(problem)?;
    let mut writer = Writer::new(problem, proof, "", changes)?;
    let mut definitions = String::new();
    for number in 0..problem.clauses.len() {
        writer.clause(number, &mut definitions)?;
    }
    for (number, lemma) in proof.lemmas.iter().enumerate() {
        writer.lemma(number, lemma, &mut definitions);
    }
    for (number, total) in proof.totals.iter().enumerate() {
        writer.domain(number, total, &mut definitions);
    }
    writer.heads(&mut definitions)?;
    let all = (0..problem.commands.len()).collect();
    let failed = |message| Refusal::Unsupported(message);
    let mut commands = String::new();
    let mut formulas = Vec::new();
    for piece in pieces(problem, changes, Predicates::Declared(&all)).map_err(failed)? {
        match piece {
            Piece::Commands(text) => commands.push_str(&text),
            Piece::Assertion { command, formula } => {
                let place = &problem.commands[command];
                let what = format!("the {} in line {}", place.keyword, place.line);
                formulas.push((what, writer.implied(command, &formula, changes)));
            }
        }
    }
    commands.push_str(&changes.own(&definitions));
    for number in 0..proof.totals.len() {
        writer.totality(number)?;
    }
    for number in 0..proof.lemmas.len() {
        writer.proof_of(number)?;
    }
    writer.queries()?;
    let own = writer.questions.into_iter();
    formulas.extend(own.map(|(what, formula)| (what, changes.definition(&formula))));
    Ok(Questions { commands, formulas })
}

/// The variables of a formula's outermost quantifier, plain and as written, and the ranges of its body
/// and of its list of variables; `None` if it is not universal, or binds a name twice.
#[allow(clippy::type_complexity)]
fn quantified(formula: &str) -> Option<(Vec<(&str, &str)>, (Range<usize>, Range<usize>))> {
    let whole = expression(formula, 0)?;
    let parts = elements(formula, &whole)?;
    let [word, list, body] = &parts[..] else {
        return None;
    };
    if &formula[word.clone()] != "forall" {
        return None;
    }
    let mut names: Vec<(&str, &str)> = Vec::new();
    for binder in elements(formula, list)? {
        let name = elements(formula, &binder)?.first()?.clone();
        let written = &formula[name];
        let plain = symbol(written);
        if names.iter().any(|known| known.0 == plain) {
            return None;
        }
        names.push((plain, written));
    }
    Some((names, (body.clone(), list.clone())))
}

/// Whether proofs by induction on derivations about the problem are supported: its clauses are those
/// of the text, and the text declares nothing else.
pub fn supports_derivations(problem: &Problem) -> bool {
    is_supported(problem).is_ok()
}

/// Whether proofs about the problem are supported.
fn is_supported(problem: &Problem) -> Result<(), Refusal> {
    let what = match problem {
        p if p.dialect == Dialect::Goal || !p.functions.is_empty() => "recursive functions",
        p if !p.complemented.is_empty() => "clauses with several heads",
        p if !p.disjunctions.is_empty() => "disjunctions over predicates",
        p if !p.free_sorts.is_empty() => "sorts without definition",
        p if !p.constants.is_empty() => "constants without definition",
        p if p.heap.is_some() => "heaps",
        _ => return Ok(()),
    };
    let message = format!("{what} in a proof by induction on derivations");
    Err(Refusal::Unsupported(message))
}

/// An atom of a context.
#[derive(Clone)]
struct ContextAtom {
    predicate: usize,
    path: Vec<usize>,
    is_split: bool,
}

/// What is known at a node.
#[derive(Clone)]
struct Known {
    atoms: Vec<ContextAtom>,
    /// Binders of the variables besides the atoms' arguments.
    binders: String,
    /// Conjuncts, each with a space before it.
    formulas: String,
    /// For messages.
    place: String,
}

/// Writes definitions and questions.
struct Writer<'a> {
    problem: &'a Problem,
    proof: &'a ProofText,
    printer: ModelPrinter<'a>,
    stem: String,
    /// The symbols of the predicates.
    names: Vec<String>,
    /// The positions of the clauses that derive each predicate.
    rules: Vec<Vec<usize>>,
    queries: Vec<usize>,
    questions: Vec<(String, String)>,
    /// The size of the questions so far.
    size: usize,
}

impl<'a> Writer<'a> {
    /// A writer whose names do not occur in `others`, with the predicates' names after `changes`.
    fn new(
        problem: &'a Problem,
        proof: &'a ProofText,
        others: &str,
        changes: &Changes<'_>,
    ) -> Result<Self, Refusal> {
        let mut stem = "ind!".to_owned();
        let is_taken = |stem: &str| {
            let in_lemma = |lemma: &LemmaText| {
                let mut names = lemma.slots.iter().flat_map(|slot| &slot.args);
                lemma.statement.contains(stem)
                    || names.any(|name| name.contains(stem))
                    || lemma.terms().any(|term| term.contains(stem))
            };
            let in_total = |total: &TotalText| {
                let mut names = total.slot.args.iter();
                total.domain.contains(stem) || names.any(|name| name.contains(stem))
            };
            problem.text.contains(stem)
                || others.contains(stem)
                || proof.lemmas.iter().any(in_lemma)
                || proof.totals.iter().any(in_total)
        };
        while is_taken(&stem) {
            stem.push('!');
        }
        let mut rules = vec![Vec::new(); problem.predicates.len()];
        let mut queries = Vec::new();
        for (number, clause) in problem.clauses.iter().enumerate() {
            match &clause.head {
                Some(head) => rules[head.predicate.index()].push(number),
                None => queries.push(number),
            }
        }
        let printer = ModelPrinter::new(problem, &Model::default());
        let printer = printer.map_err(Refusal::Unsupported)?;
        let printer = printer.with_arguments(format!("{stem}x"));
        let predicates = problem.predicates.iter();
        let names = predicates.map(|p| changes.predicate(&p.name)).collect();
        Ok(Writer {
            problem,
            proof,
            printer,
            stem,
            names,
            rules,
            queries,
            questions: Vec::new(),
            size: 0,
        })
    }

    /// Writes the definitions for a clause.
    fn clause(&self, number: usize, out: &mut String) -> Result<(), Refusal> {
        let clause = &self.problem.clauses[number];
        let stem = &self.stem;
        let vars: Vec<TermId> = clause.vars.iter().map(|v| v.1).collect();
        let mut roots: Vec<TermId> = Vec::new();
        for atom in clause.head.iter().chain(&clause.body) {
            roots.extend(&atom.args);
        }
        roots.push(clause.constraint);
        let free = |()| Refusal::Unsupported("a clause with other variables".to_owned());
        let (binders, texts) = self.printer.over(&vars, &roots).map_err(free)?;
        let mut texts = texts.into_iter();
        let mut atom = |predicate: usize, args: usize| {
            let name = self.names[predicate].clone();
            let args: Vec<String> = texts.by_ref().take(args).collect();
            match args.is_empty() {
                true => (name, args),
                false => (format!("({name} {})", args.join(" ")), args),
            }
        };
        let head = clause.head.as_ref();
        let head = head.map(|head| atom(head.predicate.index(), head.args.len()));
        let bodies: Vec<(String, Vec<String>)> = clause
            .body
            .iter()
            .map(|a| atom(a.predicate.index(), a.args.len()))
            .collect();
        let constraint = texts.next().unwrap_or_default();
        let mut premises = String::new();
        let mut params = binders.clone();
        let mut equations = String::new();
        let mut equate = |name: String, value: &str, sort: &str| {
            write!(params, " ({name} {sort})").expect("string");
            write!(equations, " (= {name} {value})").expect("string");
        };
        let sorts = |predicate: usize| self.sorts(predicate);
        let (head_text, head_args) = head.unwrap_or_else(|| ("false".to_owned(), Vec::new()));
        if let Some(atom) = &clause.head {
            for (j, (value, sort)) in head_args
                .iter()
                .zip(sorts(atom.predicate.index()))
                .enumerate()
            {
                equate(format!("{stem}h{j}"), value, &sort);
            }
        }
        for (k, ((text, args), atom)) in bodies.iter().zip(&clause.body).enumerate() {
            write!(premises, " {text}").expect("string");
            for (j, (value, sort)) in args.iter().zip(sorts(atom.predicate.index())).enumerate() {
                equate(format!("{stem}b{k}_{j}"), value, &sort);
            }
        }
        let matrix = format!("(=> (and true{premises} {constraint}) {head_text})");
        let formula = match vars.is_empty() {
            true => matrix.clone(),
            false => format!("(forall ({binders}) {matrix})"),
        };
        writeln!(out, "(define-fun {stem}clause{number} () Bool {formula})").expect("string");
        writeln!(
            out,
            "(define-fun {stem}inst{number} ({binders}) Bool {matrix})"
        )
        .expect("string");
        writeln!(
            out,
            "(define-fun {stem}rule{number} ({}) Bool (and true{equations} {constraint}))",
            params.trim_start()
        )
        .expect("string");
        Ok(())
    }

    /// Writes the definitions for a lemma's statement, and for the arguments of its conclusion.
    fn lemma(&self, number: usize, lemma: &LemmaText, out: &mut String) {
        let mut binders = String::new();
        for slot in &lemma.slots {
            for (name, sort) in slot.args.iter().zip(self.sorts(slot.predicate)) {
                write!(binders, " ({name} {sort})").expect("string");
            }
        }
        let (stem, binders, statement) = (&self.stem, binders.trim_start(), &lemma.statement);
        let what = match lemma.conclusion {
            Some(_) => "premise",
            None => "lemma",
        };
        writeln!(
            out,
            "(define-fun {stem}{what}{number} ({binders}) Bool {statement})"
        )
        .expect("string");
        if let Some((predicate, terms)) = &lemma.conclusion {
            for (j, (term, sort)) in terms.iter().zip(self.sorts(*predicate)).enumerate() {
                writeln!(
                    out,
                    "(define-fun {stem}conclusion{number}_{j} ({binders}) {sort} {term})"
                )
                .expect("string");
            }
        }
    }

    /// The sorts of a predicate's arguments.
    fn sorts(&self, predicate: usize) -> Vec<String> {
        let terms = &self.problem.terms;
        let printer = Printer::new(terms);
        let params = self.problem.predicates[predicate].params.iter();
        params.map(|&p| printer.sort(terms.sort_of(p))).collect()
    }

    /// The question that the clauses of a command imply the formula that it asserts. If its outermost
    /// quantifier binds all variables of the clauses, their instances with these variables are enough,
    /// and the question has no other quantifiers than the text.
    fn implied(&self, command: usize, formula: &str, changes: &Changes<'_>) -> String {
        let clauses = self.problem.clauses.iter().enumerate();
        let own = clauses.filter(|(_, clause)| clause.command == command);
        if let Some((binders, body)) = quantified(formula) {
            let instances: Option<Vec<String>> = own
                .clone()
                .map(|(number, clause)| {
                    let mut args = String::new();
                    for (at, (name, _)) in clause.vars.iter().enumerate() {
                        // An inner quantifier may bind the name again.
                        if clause.vars[..at].iter().any(|other| other.0 == *name) {
                            return None;
                        }
                        let name = changes.variable(name);
                        let (_, written) = binders.iter().find(|(plain, _)| *plain == name)?;
                        write!(args, " {written}").expect("string");
                    }
                    Some(self.applied(&format!("inst{number}"), &args))
                })
                .collect();
            if let Some(instances) = instances {
                let premises: String = instances.iter().map(|i| format!(" {i}")).collect();
                let list = &formula[body.1];
                let body = &formula[body.0];
                return format!("(forall {list} (=> (and true{premises}) {body}))");
            }
        }
        let mut premises = String::new();
        for (number, _) in own {
            write!(premises, " {}clause{number}", self.stem).expect("string");
        }
        format!("(=> (and true{premises}) {formula})")
    }

    /// The names of an atom's arguments, each with a space before it.
    fn args(&self, atom: usize, predicate: usize) -> String {
        let mut out = String::new();
        for j in 0..self.problem.predicates[predicate].arity() {
            write!(out, " {}a{atom}_{j}", self.stem).expect("string");
        }
        out
    }

    /// A definition applied to arguments, each with a space before it.
    fn applied(&self, name: &str, args: &str) -> String {
        match args.is_empty() {
            true => format!("{}{name}", self.stem),
            false => format!("({}{name}{args})", self.stem),
        }
    }

    /// The instance of a lemma's statement.
    ///
    /// # Errors
    /// The atoms do not match the slots, or the lemma concludes a fact.
    fn instance(&self, instance: &Instance, atoms: &[ContextAtom]) -> Result<String, Refusal> {
        let args = self.matched(instance, atoms)?;
        let lemma = &self.proof.lemmas[instance.lemma];
        if lemma.conclusion.is_some() {
            return wrong(format!(
                "an instance of {}, which says nothing but that there is a fact",
                lemma.name
            ));
        }
        Ok(self.applied(&format!("lemma{}", instance.lemma), &args))
    }

    /// The arguments of the atoms of an instance, each with a space before it.
    ///
    /// # Errors
    /// The atoms do not match the slots.
    fn matched(&self, instance: &Instance, atoms: &[ContextAtom]) -> Result<String, Refusal> {
        let lemma = &self.proof.lemmas[instance.lemma];
        if instance.atoms.len() != lemma.slots.len() {
            return wrong(format!(
                "an instance of {} with another number of atoms",
                lemma.name
            ));
        }
        let mut args = String::new();
        for (&at, slot) in instance.atoms.iter().zip(&lemma.slots) {
            let Some(atom) = atoms.get(at) else {
                return wrong(format!(
                    "an instance of {} at atom {at}, which is not there",
                    lemma.name
                ));
            };
            if atom.predicate != slot.predicate {
                return wrong(format!(
                    "an instance of {} at an atom of another predicate",
                    lemma.name
                ));
            }
            args.push_str(&self.args(at, atom.predicate));
        }
        Ok(args)
    }

    /// Whether an instance may be used in the proof of a lemma.
    fn is_smaller(
        &self,
        number: usize,
        used: &Instance,
        atoms: &[ContextAtom],
    ) -> Result<(), Refusal> {
        let (lemma, other) = (&self.proof.lemmas[number], &self.proof.lemmas[used.lemma]);
        let order = match other.group.cmp(&lemma.group) {
            Ordering::Equal => {
                let paths = other.measured.iter().map(|&slot| used.atoms[slot]);
                let paths: Vec<&[usize]> = paths.map(|atom| &*atoms[atom].path).collect();
                compare_derivations(&paths, &lemma.measured)
            }
            order => Some(order),
        };
        match order {
            Some(Ordering::Less) => Ok(()),
            Some(Ordering::Equal) if used.lemma < number => Ok(()),
            _ => wrong(format!(
                "lemma {}: an instance of {} that is not smaller",
                lemma.name, other.name
            )),
        }
    }

    /// The instances of a leaf, each with a space before it.
    fn smaller_instances(
        &self,
        number: usize,
        uses: &[Instance],
        atoms: &[ContextAtom],
    ) -> Result<String, Refusal> {
        let mut instances = String::new();
        for used in uses {
            let text = self.instance(used, atoms)?;
            self.is_smaller(number, used, atoms)?;
            write!(instances, " {text}").expect("string");
        }
        Ok(instances)
    }

    /// Adds a question: that what is known at a node is contradictory, with instances.
    fn question(&mut self, known: &Known, instances: &str) -> Result<(), Refusal> {
        let mut binders = known.binders.clone();
        for (at, atom) in known.atoms.iter().enumerate() {
            for (j, sort) in self.sorts(atom.predicate).iter().enumerate() {
                write!(binders, " ({}a{at}_{j} {sort})", self.stem).expect("string");
            }
        }
        let formula = format!("(not (and true{}{instances}))", known.formulas);
        self.add(known.place.clone(), binders.trim_start(), formula)
    }

    /// Adds a question about all values of variables.
    fn add(&mut self, place: String, binders: &str, formula: String) -> Result<(), Refusal> {
        let formula = match binders.is_empty() {
            true => formula,
            false => format!("(forall ({binders}) {formula})"),
        };
        self.size += formula.len();
        if self.size > LIMITS.max_script_bytes {
            return Err(Refusal::Unsupported("the proof is too long".to_owned()));
        }
        self.questions.push((place, formula));
        Ok(())
    }

    /// Checks the form of a lemma's proof, and adds its questions.
    fn proof_of(&mut self, number: usize) -> Result<(), Refusal> {
        let proof = self.proof;
        let lemma = &proof.lemmas[number];
        let mut args = String::new();
        let mut atoms = Vec::new();
        for (at, slot) in lemma.slots.iter().enumerate() {
            args.push_str(&self.args(at, slot.predicate));
            atoms.push(ContextAtom {
                predicate: slot.predicate,
                path: vec![at],
                is_split: false,
            });
        }
        let formulas = match lemma.conclusion {
            Some(_) => format!(" {}", self.applied(&format!("premise{number}"), &args)),
            None => format!(" (not {})", self.applied(&format!("lemma{number}"), &args)),
        };
        let known = Known {
            atoms,
            binders: String::new(),
            formulas,
            place: format!("lemma {}", lemma.name),
        };
        let mut visited = 0;
        let mut todo = vec![(0, known)];
        while let Some((node, known)) = todo.pop() {
            visited += 1;
            if visited > lemma.nodes.len() {
                return wrong(format!("the proof of {} is no tree", lemma.name));
            }
            match lemma.nodes.get(node) {
                Some(ProofNode::Use(uses)) => {
                    let instances = self.smaller_instances(number, uses, &known.atoms)?;
                    self.question(&known, &instances)?;
                }
                Some(ProofNode::Goal { atoms, uses }) => {
                    self.goal(number, &known, atoms, uses)?;
                }
                Some(ProofNode::Ghost { fact, inner }) => {
                    let known = self.ghost(number, &known, fact)?;
                    todo.push((*inner, known));
                }
                Some(ProofNode::Add { used, uses, inner }) => {
                    let known = self.added(number, &known, used, uses)?;
                    todo.push((*inner, known));
                }
                Some(ProofNode::Apply { step, inner }) => {
                    let known = self.by_clause(number, &known, step)?;
                    todo.push((*inner, known));
                }
                Some(ProofNode::Split { atom, cases }) => {
                    let inner = self.split(lemma, &known, *atom, cases.len())?;
                    // The cases are in their order when they are popped.
                    todo.extend(cases.iter().copied().zip(inner).rev());
                }
                None => return wrong(format!("a node of {} is missing", lemma.name)),
            }
        }
        Ok(())
    }

    /// What is known in the cases of a split.
    fn split(
        &self,
        lemma: &LemmaText,
        known: &Known,
        at: usize,
        cases: usize,
    ) -> Result<Vec<Known>, Refusal> {
        let Some(atom) = known.atoms.get(at) else {
            return wrong(format!(
                "{}: a split of atom {at}, which is not there",
                known.place
            ));
        };
        if atom.is_split {
            return wrong(format!("{}: atom {at} is split twice", known.place));
        }
        let rules = &self.rules[atom.predicate];
        if rules.len() != cases {
            return wrong(format!(
                "lemma {}: {cases} cases for {} clauses",
                lemma.name,
                rules.len()
            ));
        }
        let mut inner = Vec::with_capacity(cases);
        for (case, &rule) in rules.iter().enumerate() {
            let clause = &self.problem.clauses[rule];
            let mut next = known.clone();
            next.atoms[at].is_split = true;
            let first = next.atoms.len();
            for (premise, body) in clause.body.iter().enumerate() {
                let mut path = atom.path.clone();
                path.push(premise);
                next.atoms.push(ContextAtom {
                    predicate: body.predicate.index(),
                    path,
                    is_split: false,
                });
            }
            let mut args = self.clause_vars(clause, &format!("c{at}"), &mut next.binders);
            args.push_str(&self.args(at, atom.predicate));
            for (number, body) in next.atoms.iter().enumerate().skip(first) {
                args.push_str(&self.args(number, body.predicate));
            }
            let formula = self.applied(&format!("rule{rule}"), &args);
            write!(next.formulas, " {formula}").expect("string");
            write!(next.place, ", case {case} of atom {at}").expect("string");
            inner.push(next);
        }
        Ok(inner)
    }

    /// New names for a clause's variables, each with a space before it, and their binders.
    fn clause_vars(&self, clause: &ProblemClause, name: &str, binders: &mut String) -> String {
        let terms = &self.problem.terms;
        let printer = Printer::new(terms);
        let mut args = String::new();
        for (j, (_, var)) in clause.vars.iter().enumerate() {
            let sort = printer.sort(terms.sort_of(*var));
            write!(args, " {}{name}_{j}", self.stem).expect("string");
            write!(binders, " ({}{name}_{j} {sort})", self.stem).expect("string");
        }
        args
    }

    /// Adds the questions of the queries.
    fn queries(&mut self) -> Result<(), Refusal> {
        let (proof, problem) = (self.proof, self.problem);
        if proof.queries.len() != self.queries.len() {
            return wrong(format!(
                "{} queries, where the clauses have {}",
                proof.queries.len(),
                self.queries.len()
            ));
        }
        for (number, uses) in proof.queries.iter().enumerate() {
            let rule = self.queries[number];
            let clause = &problem.clauses[rule];
            let atom = |(at, atom): (usize, &alphorn_chc::Atom)| ContextAtom {
                predicate: atom.predicate.index(),
                path: vec![at],
                is_split: false,
            };
            let mut known = Known {
                atoms: clause.body.iter().enumerate().map(atom).collect(),
                binders: String::new(),
                formulas: String::new(),
                place: format!("query {number}"),
            };
            let mut args = self.clause_vars(clause, "c", &mut known.binders);
            for (at, atom) in known.atoms.iter().enumerate() {
                args.push_str(&self.args(at, atom.predicate));
            }
            write!(
                known.formulas,
                " {}",
                self.applied(&format!("rule{rule}"), &args)
            )
            .expect("string");
            let mut instances = String::new();
            for used in uses {
                write!(instances, " {}", self.instance(used, &known.atoms)?).expect("string");
            }
            self.question(&known, &instances)?;
        }
        Ok(())
    }
}
