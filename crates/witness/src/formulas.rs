//! Reading the formulas of a model's text.
//!
//! The definitions become clauses of a text for the reader of problems. The clause of a predicate
//! is `body ⇒ P!(x)`, whose constraint is the formula. Bodies of recursive functions and parts of
//! lemmas are arguments of atoms.
//!
//! # Invariant
//! The result is a candidate: nothing is checked here but its form.

use std::fmt::Write;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::parse::{ModelText, size_definition};
use super::script::sort_declarations;
use super::sexp::{elements, expression, symbol};
use super::types::{Case, Lemma, Model};
use alphorn_chc::PredicateId;
use alphorn_chc::frontend::{Functions, Problem, ProblemClause, parse_with_functions};
use alphorn_term::{TermId, TermStore};

/// The formulas of a model of `problem` over the formal variables of its predicates, with its
/// functions and lemmas. `witness` is the text from which the model was read. Predicates that it
/// does not define have no formula.
///
/// # Errors
/// A definition, measure or lemma is malformed, or is not read by alphorn.
pub fn model_of_text(problem: &Problem, model: &ModelText, witness: &str) -> Result<Model, String> {
    if !problem.functions.is_empty() {
        return Err("the text has functions of its own".to_owned());
    }
    let mut stem = "formula!".to_owned();
    while witness.contains(&stem) || problem.text.contains(&stem) {
        stem.push('!');
    }
    let mut writer = Writer {
        problem,
        stem,
        functions: Functions::default(),
        heads: Vec::new(),
        measures: FxHashMap::default(),
        lemmas: Vec::new(),
        declarations: sort_declarations(problem),
        clauses: String::new(),
        atoms: FxHashMap::default(),
    };
    let comments = |keyword: &'static str| {
        let lines = witness.lines().map(str::trim_end);
        lines.filter_map(move |line| line.strip_prefix("; ")?.strip_prefix(keyword))
    };
    for line in comments("measure ") {
        let line = format!("({line})");
        let parts = list(&line)?;
        let [name, positions] = parts.as_slice() else {
            return Err("a malformed measure".to_owned());
        };
        writer
            .measures
            .insert(symbol(name).to_owned(), numbers(positions)?);
    }
    let mut position = 0;
    while let Some(range) = expression(&model.definitions, position) {
        position = range.end;
        writer.definition(&model.definitions[range])?;
    }
    for line in comments("lemma ") {
        writer.lemma(&format!("({line})"))?;
    }
    writer.read()
}

/// The purpose of an atom of the text.
#[derive(Clone, Copy)]
enum Atom {
    /// The formula of a predicate.
    Formula(PredicateId),
    /// The body of a function, after its parameters.
    Body(usize),
    /// The statement of a lemma, after its variables.
    Statement(usize),
    /// A case of a lemma: its guard, instances and calls, after the lemma's variables.
    Case(usize, usize),
}

/// The name of a function, and the sorts of its parameters and result.
struct Head {
    name: String,
    sorts: Vec<String>,
    result: String,
}

/// A lemma without its terms.
struct LemmaText {
    name: String,
    /// Variables with their sorts.
    vars: Vec<(String, String)>,
    measure: Vec<usize>,
    cases: Vec<CaseText>,
}

/// The numbers of terms in a case.
struct CaseText {
    induction: usize,
    /// The positions of the lemmas.
    instances: Vec<usize>,
    unfoldings: usize,
}

struct Writer<'a> {
    problem: &'a Problem,
    stem: String,
    functions: Functions,
    heads: Vec<Head>,
    /// By name of the function.
    measures: FxHashMap<String, Vec<usize>>,
    lemmas: Vec<LemmaText>,
    declarations: String,
    clauses: String,
    /// By name of the predicate in the text.
    atoms: FxHashMap<String, Atom>,
}

impl Writer<'_> {
    /// Adds a definition of a predicate, an auxiliary function, or recursive functions.
    fn definition(&mut self, text: &str) -> Result<(), String> {
        let parts = list(text)?;
        match parts.as_slice() {
            ["define-fun", name, params, sort, body] => {
                let predicates = &self.problem.predicates;
                let known = predicates.iter().position(|p| p.name == symbol(name));
                let Some(id) = known else {
                    let _ = writeln!(self.declarations, "{text}");
                    return Ok(());
                };
                if *sort != "Bool" {
                    return Err("a definition of another sort".to_owned());
                }
                let vars = binders(params)?;
                let id = PredicateId(u32::try_from(id).expect("fewer than 2^32 predicates"));
                let sorts = vars.iter().map(|(_, sort)| sort.as_str());
                let name = self.atom(Atom::Formula(id), sorts.collect());
                let head = applied(&name, vars.iter().map(|(name, _)| name.as_str()));
                self.clause(&vars, &format!("(=> {body} {head})"));
                Ok(())
            }
            ["define-fun-rec", name, params, result, body] => {
                let is_size = size_definition(self.problem, text).is_some();
                let head = [*name, *params, *result];
                self.function(&head, is_size)?;
                self.body(&head, body, is_size)
            }
            ["define-funs-rec", heads, bodies] => {
                let is_size = size_definition(self.problem, text).is_some();
                let (heads, bodies) = (list(heads)?, list(bodies)?);
                let heads: Vec<Vec<&str>> =
                    heads.into_iter().map(list).collect::<Result<_, _>>()?;
                for head in &heads {
                    self.function(head, is_size)?;
                }
                for (head, body) in heads.iter().zip(bodies) {
                    self.body(head, body, is_size)?;
                }
                Ok(())
            }
            _ => Err("not a definition".to_owned()),
        }
    }

    /// Declares a recursive function.
    fn function(&mut self, head: &[&str], is_size: bool) -> Result<(), String> {
        let &[name, params, result] = head else {
            return Err("a malformed definition".to_owned());
        };
        let sorts: Vec<String> = binders(params)?.into_iter().map(|(_, sort)| sort).collect();
        let declared = sorts.join(" ");
        let _ = writeln!(
            self.declarations,
            "(declare-fun {name} ({declared}) {result})"
        );
        let name = symbol(name).to_owned();
        if is_size {
            self.functions.sizes.insert(name.clone());
        } else {
            self.functions.names.insert(name.clone(), None);
        }
        self.heads.push(Head {
            name,
            sorts,
            result: result.to_owned(),
        });
        Ok(())
    }

    /// Adds the body of a declared function.
    fn body(&mut self, head: &[&str], body: &str, is_size: bool) -> Result<(), String> {
        if is_size {
            return Ok(());
        }
        let vars = binders(head[1])?;
        let own = self.heads.iter().position(|h| h.name == symbol(head[0]));
        let own = own.ok_or("a body without a function")?;
        let mut sorts: Vec<&str> = vars.iter().map(|(_, sort)| sort.as_str()).collect();
        sorts.push(head[2]);
        let name = self.atom(Atom::Body(own), sorts);
        let names = vars.iter().map(|(name, _)| name.as_str());
        let atom = applied(&name, names.chain([body]));
        self.clause(&vars, &atom);
        Ok(())
    }

    /// Adds a lemma.
    fn lemma(&mut self, text: &str) -> Result<(), String> {
        let parts = list(text)?;
        let [name, vars, statement, rest @ ..] = parts.as_slice() else {
            return Err("a malformed lemma".to_owned());
        };
        let at = self.lemmas.len();
        let vars = binders(vars)?;
        self.lemma_atom(Atom::Statement(at), &vars, &[(statement, "Bool")]);
        let mut lemma = LemmaText {
            name: symbol(name).to_owned(),
            vars,
            measure: Vec::new(),
            cases: Vec::new(),
        };
        for pair in rest.chunks(2) {
            match pair {
                [":measure", positions] => lemma.measure = numbers(positions)?,
                [":case", case] => {
                    let case = self.case(at, &lemma, case)?;
                    lemma.cases.push(case);
                }
                _ => return Err("a malformed lemma".to_owned()),
            }
        }
        self.lemmas.push(lemma);
        Ok(())
    }

    /// Adds a case of the lemma at a position.
    fn case(&mut self, at: usize, lemma: &LemmaText, text: &str) -> Result<CaseText, String> {
        let parts = list(text)?;
        let (guard, rest) = parts.split_first().ok_or("a case without its guard")?;
        let mut terms: Vec<(&str, &str)> = vec![(guard, "Bool")];
        let own: Vec<&str> = lemma.vars.iter().map(|(_, sort)| sort.as_str()).collect();
        let mut case = CaseText {
            induction: 0,
            instances: Vec::new(),
            unfoldings: 0,
        };
        // The terms in the order of the atom.
        for wanted in [":induction", ":use", ":unfold"] {
            let pairs = rest.chunks(2).filter(|pair| pair[0] == wanted);
            for items in pairs.filter_map(|pair| pair.get(1)) {
                for item in list(items)? {
                    match wanted {
                        ":induction" => {
                            let instance = list(item)?;
                            if instance.len() != own.len() {
                                return Err("a malformed instance".to_owned());
                            }
                            terms.extend(instance.into_iter().zip(own.iter().copied()));
                            case.induction += 1;
                        }
                        ":use" => {
                            let instance = list(item)?;
                            let (name, instance) =
                                instance.split_first().ok_or("a malformed instance")?;
                            let known = |l: &LemmaText| l.name == symbol(name);
                            let other = self.lemmas.iter().position(known);
                            let other = other.ok_or("an instance of an unknown lemma")?;
                            let sorts = self.lemmas[other].vars.iter().map(|(_, s)| s.as_str());
                            if instance.len() != sorts.len() {
                                return Err("a malformed instance".to_owned());
                            }
                            terms.extend(instance.iter().copied().zip(sorts));
                            case.instances.push(other);
                        }
                        _ => {
                            let call = called(item);
                            let head = self.heads.iter().find(|head| head.name == symbol(call));
                            let head = head.ok_or("a call of an unknown function")?;
                            terms.push((item, &head.result));
                            case.unfoldings += 1;
                        }
                    }
                }
            }
        }
        let atom = Atom::Case(at, lemma.cases.len());
        let terms: Vec<(String, String)> = terms
            .into_iter()
            .map(|(term, sort)| (term.to_owned(), sort.to_owned()))
            .collect();
        let terms: Vec<(&str, &str)> = terms.iter().map(|(t, s)| (&**t, &**s)).collect();
        self.lemma_atom(atom, &lemma.vars, &terms);
        Ok(case)
    }

    /// Adds an atom of a lemma's variables and of terms over them, with their sorts.
    fn lemma_atom(&mut self, atom: Atom, vars: &[(String, String)], terms: &[(&str, &str)]) {
        let sorts = vars.iter().map(|(_, sort)| sort.as_str());
        let sorts = sorts.chain(terms.iter().map(|(_, sort)| *sort));
        let name = self.atom(atom, sorts.collect());
        let names = vars.iter().map(|(name, _)| name.as_str());
        let text = applied(&name, names.chain(terms.iter().map(|(term, _)| *term)));
        self.clause(vars, &text);
    }

    /// Declares a predicate for an atom.
    fn atom(&mut self, atom: Atom, sorts: Vec<&str>) -> String {
        let name = format!("{}{}", self.stem, self.atoms.len());
        let sorts = sorts.join(" ");
        let _ = writeln!(self.clauses, "(declare-fun {name} ({sorts}) Bool)");
        self.atoms.insert(name.clone(), atom);
        name
    }

    /// Adds a clause.
    fn clause(&mut self, vars: &[(String, String)], formula: &str) {
        let bound: Vec<String> = vars.iter().map(|(n, s)| format!("({n} {s})")).collect();
        let _ = match bound.is_empty() {
            true => writeln!(self.clauses, "(assert {formula})"),
            false => writeln!(
                self.clauses,
                "(assert (forall ({}) {formula}))",
                bound.join(" ")
            ),
        };
    }

    /// Reads the text and makes the model of its clauses.
    fn read(mut self) -> Result<Model, String> {
        let problem = self.problem;
        let terms = &problem.terms;
        let text = format!("{}{}(check-sat)\n", self.declarations, self.clauses);
        let read = parse_with_functions(&text, terms.clone(), &mut self.functions);
        let read = read.map_err(|error| error.to_string())?;
        let mut disjuncts: FxHashMap<PredicateId, Vec<TermId>> = FxHashMap::default();
        // A definition `false` gives no clause.
        for atom in self.atoms.values() {
            if let Atom::Formula(id) = *atom {
                disjuncts.insert(id, Vec::new());
            }
        }
        let mut lemmas: Vec<Option<Lemma>> = self.lemmas.iter().map(|_| None).collect();
        let mut cases: Vec<(usize, usize, &ProblemClause)> = Vec::new();
        for clause in &read.clauses {
            let head = clause.head.as_ref().filter(|_| clause.body.is_empty());
            let head = head.ok_or("a definition that is not a formula")?;
            let name = &read.predicates[head.predicate.index()].name;
            match self.atoms[name] {
                Atom::Formula(id) => {
                    let params = &problem.predicates[id.index()].params;
                    let map = renaming(terms, &head.args, params)?;
                    let formula = terms.substitute(clause.constraint, &map);
                    let is_foreign = |v: &TermId| !params.contains(v);
                    if terms.free_vars(&[formula]).iter().any(is_foreign) {
                        return Err("a definition over more than its arguments".to_owned());
                    }
                    disjuncts.entry(id).or_default().push(formula);
                }
                Atom::Body(function) => {
                    let head_of = &self.heads[function];
                    let known = self.functions.names.get(&head_of.name).copied().flatten();
                    let id = known.ok_or("a function that is not declared")?;
                    let (body, args) = head.args.split_last().ok_or("no body")?;
                    let map = renaming(terms, args, &terms.function(id).params)?;
                    let measure = self.measures.get(&head_of.name);
                    let measure = measure.cloned().unwrap_or_default();
                    if measure.iter().any(|&m| m >= head_of.sorts.len()) {
                        return Err("a measure with a position beyond the arguments".to_owned());
                    }
                    terms.define_function(id, terms.substitute(*body, &map), measure);
                }
                Atom::Statement(at) => {
                    let (&statement, vars) = head.args.split_last().ok_or("no statement")?;
                    lemmas[at] = Some(Lemma {
                        name: self.lemmas[at].name.clone(),
                        vars: vars.to_vec(),
                        statement,
                        measure: self.lemmas[at].measure.clone(),
                        cases: Vec::new(),
                    });
                }
                Atom::Case(at, number) => cases.push((at, number, clause)),
            }
        }
        for (at, number, clause) in cases {
            let args = clause.head.as_ref().map_or(&[][..], |head| &head.args);
            let lemma = lemmas[at].as_mut().ok_or("a case without a lemma")?;
            let (vars, rest) = args.split_at(lemma.vars.len());
            let map = renaming(terms, vars, &lemma.vars)?;
            let rest = rest.iter().map(|&term| terms.substitute(term, &map));
            let mut rest = rest.collect::<Vec<TermId>>().into_iter();
            let mut take = |count: usize| rest.by_ref().take(count).collect::<Vec<TermId>>();
            let text = &self.lemmas[at].cases[number];
            let guard = take(1)[0];
            let induction = (0..text.induction)
                .map(|_| take(lemma.vars.len()))
                .collect();
            let used = text.instances.iter();
            let instances = used
                .map(|&l| (l, take(self.lemmas[l].vars.len())))
                .collect();
            lemma.cases.push(Case {
                guard,
                induction,
                instances,
                unfoldings: take(text.unfoldings),
            });
        }
        let definitions = disjuncts.iter();
        let definitions = definitions.map(|(&id, formulas)| (id, terms.or(formulas)));
        Ok(Model {
            definitions: definitions.collect(),
            lemmas: lemmas
                .into_iter()
                .collect::<Option<_>>()
                .ok_or("a lemma without a statement")?,
        })
    }
}

/// The map from variables to others of the same sorts.
///
/// # Errors
/// The sorts differ, or variables are equal.
fn renaming(
    terms: &TermStore,
    from: &[TermId],
    to: &[TermId],
) -> Result<FxHashMap<TermId, TermId>, String> {
    let sorts = |vars: &[TermId]| vars.iter().map(|&v| terms.sort_of(v)).collect::<Vec<_>>();
    let map: FxHashMap<TermId, TermId> = from.iter().copied().zip(to.iter().copied()).collect();
    match sorts(from) == sorts(to) && map.len() == to.len() {
        true => Ok(map),
        false => Err("a definition has other arguments".to_owned()),
    }
}

fn applied<'a>(name: &str, args: impl Iterator<Item = &'a str>) -> String {
    let args: Vec<&str> = args.collect();
    match args.is_empty() {
        true => name.to_owned(),
        false => format!("({name} {})", args.join(" ")),
    }
}

/// The name of the function of a call, below any `let`s.
fn called(call: &str) -> &str {
    let mut call = call;
    loop {
        match list(call).unwrap_or_default().as_slice() {
            ["let", _, body] => call = body,
            [name, ..] => return name,
            [] => return call,
        }
    }
}

/// The elements of a list.
fn list(text: &str) -> Result<Vec<&str>, String> {
    let parts = elements(text, &(0..text.len())).ok_or("a list is expected")?;
    let part = |range: Range<usize>| &text[range];
    Ok(parts.into_iter().map(part).collect())
}

fn numbers(text: &str) -> Result<Vec<usize>, String> {
    let number = |part: &str| {
        part.parse()
            .map_err(|_| "a position is expected".to_owned())
    };
    list(text)?.into_iter().map(number).collect()
}

/// Variables with their sorts.
fn binders(text: &str) -> Result<Vec<(String, String)>, String> {
    let binder = |part: &str| match list(part)?.as_slice() {
        [name, sort] => Ok(((*name).to_owned(), (*sort).to_owned())),
        _ => Err("a variable has a name and a sort".to_owned()),
    };
    list(text)?.into_iter().map(binder).collect()
}
