//! Certificates of models with recursive functions.
//!
//! A predicate's formula may call functions that recursive equations define. A solver without
//! induction can show neither that such functions exist nor what properties they have. So the model
//! has a *certificate*: a measure for each function, and lemmas with their proofs. It is checked in
//! three parts, each as text that Z3 reads.
//!
//! 1. *Definitions.* In the body of a function, each call of a mutually recursive function has
//!    lexicographically smaller measured arguments under the conditions of the call. An argument is
//!    smaller than a parameter if it is a proper part of it, by selectors of its constructors, or
//!    a smaller integer where the parameter is at least 0. This order is well-founded, so exactly
//!    one function satisfies the equation. A measure may also be integers that are computed from
//!    the parameters without recursive functions.
//! 2. *Lemmas*, in groups. A lemma that uses a later one is in a group with it and all between them.
//!    The guards of the cases cover the negated statement. Instances of the induction hypothesis and
//!    of lemmas of the same group are smaller by the measure. In each case the guard, these
//!    instances, those of lemmas of earlier groups, and the equations of the case's calls imply the
//!    statement. So the statements of a group hold by well-founded induction.
//! 3. *Clauses.* Every assertion of the problem holds under the lemmas.
//!
//! In the first two parts the functions are uninterpreted, so that a solver does not unfold them
//! forever and a gap in a certificate is found soon.
//!
//! # Invariant
//! All scripts are written from the forms of the certificate's text, for parts 1 and 2 as for part
//! 3. So if the text was misread, all parts are about the misread functions and lemmas, and still
//! there are functions with which the definitions satisfy the problem's text.

mod descent;
mod read;
mod scripts;
#[cfg(test)]
mod tests;

use rustc_hash::{FxHashMap, FxHashSet};

use super::forms::{FormId, Forms};
use super::script;
use super::sexp::symbol;
use super::text_check::outcome_of_text;
use super::validate::CheckOutcome;
use alphorn_chc::frontend::Problem;
use alphorn_smt::text::{Reading, TextCheck, valid_assertions, valid_in_some};
use alphorn_term::quote_symbol;
use alphorn_term::run::Budget;
use descent::{Descent, Member, conjunction};
pub use read::{CertificateReader, has_certificate};

/// The recursive functions of a model and lemmas about them, as forms.
#[derive(Clone, Debug)]
pub struct Certificate {
    forms: Forms,
    functions: Vec<Function>,
    /// The positions of functions that are defined together; only these may be mutually recursive.
    groups: Vec<Vec<usize>>,
    lemmas: Vec<Lemma>,
    /// All other definitions of the model.
    plain: String,
}

/// Names and sorts of variables, as text.
type Variables = Vec<(String, String)>;

#[derive(Clone, Debug)]
struct Function {
    /// The name in the scripts, with the checker's prefix.
    name: String,
    /// The name as it was written.
    shown: String,
    params: Variables,
    result: String,
    body: FormId,
    /// The positions of the measured parameters; empty without a measure.
    measure: Vec<usize>,
    /// Integers over the parameters that take the place of measured parameters.
    sums: Vec<FormId>,
    /// The index in `groups`.
    group: usize,
    /// The function is the size of a datatype, which is not checked.
    is_size: bool,
}

#[derive(Clone, Debug)]
struct Lemma {
    name: String,
    vars: Variables,
    statement: FormId,
    measure: Vec<usize>,
    cases: Vec<Case>,
}

#[derive(Clone, Debug)]
struct Case {
    guard: FormId,
    induction: Vec<Vec<FormId>>,
    /// The positions of lemmas, with terms for their variables.
    uses: Vec<(usize, Vec<FormId>)>,
    /// The positions of functions, with the arguments of the calls.
    unfoldings: Vec<(usize, Vec<FormId>)>,
}

/// A formula over variables that has to be valid, with a description for messages.
struct Obligation {
    what: String,
    vars: Variables,
    formula: FormId,
}

/// Checks a model with a certificate against the problem's text. The caller has checked that the
/// model defines no other symbol of that text than the predicates.
pub fn check_certificate(
    problem: &Problem,
    certificate: &Certificate,
    about: About,
    budget: &Budget,
) -> CheckOutcome {
    let mut checker = Checker::new(problem, certificate.clone());
    match checker.check_obligations(problem, budget) {
        CheckOutcome::Valid => {}
        outcome => return outcome,
    }
    let Some(readings) = checker.readings() else {
        return CheckOutcome::undecided("the certificate is too large".to_owned());
    };
    let check = |texts: &[Reading]| valid_in_some(texts, budget);
    match about {
        About::Assertions => outcome_of_text(problem, &readings, script::defined, budget, check),
        About::Functions => {
            outcome_of_text(problem, &readings, script::with_functions, budget, check)
        }
    }
}

/// The assertions for which a certificate is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum About {
    /// All of the problem.
    Assertions,
    /// The equations of the problem's recursive functions, so that these exist.
    Functions,
}

/// The text of a certificate's obligations and definitions.
pub struct Standalone {
    /// Commands: declarations of the functions, and definitions for their bodies and for the
    /// lemmas' statements.
    pub declarations: String,
    /// Closed formulas over these that have to be valid, each after its description.
    pub obligations: Vec<(String, String)>,
    /// Commands: definitions of the functions and predicates, and the lemmas as assertions.
    pub definitions: String,
}

/// The obligations of a certificate as text for any solver.
///
/// # Errors
/// The certificate's form is wrong, or it is too large.
pub fn standalone(problem: &Problem, certificate: &Certificate) -> Result<Standalone, String> {
    let mut checker = Checker::new(problem, certificate.clone());
    let obligations = checker.obligations()?;
    let written = checker.standalone(&obligations);
    written.ok_or_else(|| "the certificate is too large".to_owned())
}

/// Functions that exist, for another check of the definitions that call them.
pub struct Functions {
    /// Commands: declarations of the functions, and definitions for their bodies.
    pub declarations: String,
    /// Commands: the definitions of the predicates.
    pub predicates: String,
    /// The functions.
    pub symbols: Vec<FunctionSymbols>,
}

/// A function in the commands of [`Functions`].
pub struct FunctionSymbols {
    /// The name in the certificate's text.
    pub shown: String,
    /// The name of the function.
    pub name: String,
    /// The definition for its body.
    pub body: String,
    /// The sorts of its parameters.
    pub sorts: Vec<String>,
}

/// Checks that the functions of a certificate without lemmas exist. New names do not occur in
/// `others`.
///
/// # Errors
/// The outcome, if they are not found to exist.
pub fn existing_functions(
    problem: &Problem,
    certificate: &Certificate,
    others: &str,
    budget: &Budget,
) -> Result<Functions, CheckOutcome> {
    let mut checker = Checker::new(problem, certificate.clone());
    checker.avoid(others);
    let has_size = certificate.functions.iter().any(|f| f.is_size);
    if has_size || !certificate.lemmas.is_empty() {
        let why = "sizes of datatypes, or lemmas about functions".to_owned();
        return Err(CheckOutcome::Invalid(why));
    }
    match checker.check_obligations(problem, budget) {
        CheckOutcome::Valid => {}
        outcome => return Err(outcome),
    }
    let too_large = || CheckOutcome::undecided("the functions are too large");
    let bodies = checker.bodies().ok_or_else(too_large)?;
    let functions = checker.certificate.functions.iter().enumerate();
    let symbols = functions.map(|(at, function)| FunctionSymbols {
        shown: function.shown.clone(),
        name: function.name.clone(),
        body: checker.body_symbol(at),
        sorts: function.params.iter().map(|p| p.1.clone()).collect(),
    });
    Ok(Functions {
        symbols: symbols.collect(),
        declarations: format!("{}{bodies}", checker.declarations()),
        predicates: checker.certificate.plain.clone(),
    })
}

/// Makes the obligations and scripts of a certificate.
struct Checker {
    certificate: Certificate,
    descent: Descent,
    /// The prefix of new names, which no symbol of the problem or the certificate contains.
    stem: String,
    /// The names of predicates.
    predicates: FxHashSet<String>,
}

impl Checker {
    fn new(problem: &Problem, certificate: Certificate) -> Self {
        let mut stem = "c!".to_owned();
        let vars = certificate.lemmas.iter().map(|lemma| &lemma.vars);
        let params = certificate.functions.iter().map(|f| &f.params);
        let variables = params.chain(vars).flatten().map(|(name, _)| name);
        let functions = certificate.functions.iter().map(|f| &f.name);
        let names: Vec<&String> = variables.chain(functions).collect();
        while problem.text.contains(&stem)
            || certificate.plain.contains(&stem)
            || certificate.forms.atoms().any(|atom| atom.contains(&stem))
            || names.iter().any(|name| name.contains(&stem))
        {
            stem.push('!');
        }
        Checker {
            descent: Descent::new(problem, &stem),
            predicates: problem.predicates.iter().map(|p| p.name.clone()).collect(),
            certificate,
            stem,
        }
    }

    /// Makes the prefix one that does not occur in a text.
    fn avoid(&mut self, text: &str) {
        while text.contains(&self.stem) {
            self.stem.push('!');
        }
    }

    /// The obligations of parts 1 and 2.
    ///
    /// # Errors
    /// The certificate's form is wrong.
    fn obligations(&mut self) -> Result<Vec<Obligation>, String> {
        self.check_names()?;
        self.rename_functions();
        let mut obligations = Vec::new();
        for function in 0..self.certificate.functions.len() {
            if !self.certificate.functions[function].is_size {
                self.definition(function, &mut obligations)
                    .map_err(|m| format!("function {}: {m}", self.function(function).shown))?;
            }
        }
        let groups = self.lemma_groups();
        for lemma in 0..self.certificate.lemmas.len() {
            self.lemma(lemma, &groups, &mut obligations)
                .map_err(|m| format!("lemma {}: {m}", self.certificate.lemmas[lemma].name))?;
        }
        Ok(obligations)
    }

    /// Checks parts 1 and 2.
    fn check_obligations(&mut self, problem: &Problem, budget: &Budget) -> CheckOutcome {
        let obligations = match self.obligations() {
            Ok(obligations) => obligations,
            Err(message) => return CheckOutcome::Invalid(message),
        };
        let Some(text) = self.obligations_text(&obligations) else {
            return CheckOutcome::undecided("the certificate is too large".to_owned());
        };
        let text = script::with_sorts(problem, &text);
        let what = |assertion: usize| &obligations[assertion].what;
        match valid_assertions(&text, budget) {
            TextCheck::Valid { assertions } if assertions == obligations.len() => {
                CheckOutcome::Valid
            }
            TextCheck::Valid { assertions } => CheckOutcome::undecided(format!(
                "Z3 read {assertions} obligations of the certificate of {}",
                obligations.len()
            )),
            TextCheck::Invalid { assertion } => {
                CheckOutcome::Invalid(format!("{} does not hold", what(assertion)))
            }
            TextCheck::Unknown { assertion, reason } => {
                CheckOutcome::undecided(format!("{}: {reason}", what(assertion)))
            }
            TextCheck::Malformed(message) => {
                CheckOutcome::Invalid(format!("Z3 rejects the certificate: {message}"))
            }
        }
    }

    fn function(&self, function: usize) -> &Function {
        &self.certificate.functions[function]
    }

    /// Checks that functions, variables, names of `let`s and the scripts' own symbols differ.
    fn check_names(&self) -> Result<(), String> {
        let certificate = &self.certificate;
        for (position, function) in certificate.functions.iter().enumerate() {
            let name = function.name.as_str();
            if descent::RESERVED.contains(&name) {
                return Err(format!("{name} cannot name a function"));
            }
            let before = &certificate.functions[..position];
            if before.iter().any(|f| f.name == name) {
                return Err(format!("{name} is defined twice"));
            }
        }
        let params = certificate.functions.iter().map(|f| &f.params);
        let vars = certificate.lemmas.iter().map(|l| &l.vars);
        let heads: FxHashSet<&str> = certificate.forms.heads().collect();
        let is_function = |name: &str| certificate.functions.iter().any(|f| f.name == name);
        for list in params.chain(vars) {
            for (position, (name, _)) in list.iter().enumerate() {
                if list[..position].iter().any(|(other, _)| other == name) {
                    return Err(format!("two variables {name}"));
                }
                if is_function(name)
                    || heads.contains(name.as_str())
                    || descent::RESERVED.contains(&name.as_str())
                {
                    return Err(format!("{name} cannot name a variable"));
                }
            }
        }
        for name in certificate.forms.let_names() {
            if is_function(name) || heads.contains(name.as_str()) {
                return Err(format!("{name} cannot name a `let`"));
            }
        }
        let is_constructor = |name: &str| self.descent.is_constructor(name);
        if let Some(name) = certificate.forms.captured(is_constructor) {
            return Err(format!(
                "{name} is bound by a quantifier or a pattern, and occurs in a `let`"
            ));
        }
        Ok(())
    }

    /// Gives the functions new names, since Z3 takes some names for its own functions, for example
    /// `is-nil` for the tester of a constructor `nil`, of which an unfolding would be false. A
    /// predicate that is such a function is defined by a call of it.
    fn rename_functions(&mut self) {
        let certificate = &mut self.certificate;
        let mut names: FxHashMap<&str, String> = FxHashMap::default();
        for function in &mut certificate.functions {
            let Function { name, shown, .. } = function;
            let written = symbol(shown);
            *name = quote_symbol(&format!("{}g!{written}", self.stem));
            certificate.forms.rename(shown, name);
            names.insert(written, name.clone());
        }
        certificate.plain = script::with_names(&certificate.plain, &names);
        let functions = certificate.functions.iter();
        for f in functions.filter(|f| self.predicates.contains(symbol(&f.shown))) {
            certificate.plain.push_str(&scripts::as_predicate(f));
        }
    }

    // ---- definitions ----

    /// Adds the obligations of a function's definition.
    fn definition(&mut self, at: usize, obligations: &mut Vec<Obligation>) -> Result<(), String> {
        let Certificate {
            forms,
            functions,
            groups,
            ..
        } = &mut self.certificate;
        let function = functions[at].clone();
        let group = &groups[function.group];
        let kinds = |function: &Function| -> Result<Vec<bool>, String> {
            let sort = |&m: &usize| function.params.get(m).map(|(_, sort)| sort == "Int");
            let kinds: Option<Vec<bool>> = function.measure.iter().map(sort).collect();
            kinds.ok_or_else(|| "a measure with a position beyond the arguments".to_owned())
        };
        let own = kinds(&function)?;
        for &member in group {
            let same_sums = functions[member].sums.len() == function.sums.len();
            if kinds(&functions[member])? != own || !same_sums {
                return Err(format!(
                    "its measure does not suit that of {}",
                    functions[member].shown
                ));
            }
        }
        let later = |name: &str| {
            let is_later = |f: &&Function| f.group > function.group && f.name == name;
            functions.iter().find(is_later)
        };
        let mut unknown = None;
        forms.post_order(function.body, |id| {
            if let Some(found) = forms.atom_text(id).and_then(later) {
                unknown = Some(&found.shown);
            }
        });
        if let Some(name) = unknown {
            return Err(format!("it calls {name}, which is defined after it"));
        }
        if calls_functions(forms, functions, &function.sums) {
            return Err("a measure that calls a recursive function".to_owned());
        }
        let member = |&m: &usize| Member {
            name: functions[m].name.clone(),
            shown: functions[m].shown.clone(),
            params: functions[m].params.len(),
        };
        let members: Vec<Member> = group.iter().map(member).collect();
        for call in descent::calls(forms, function.body, &members)? {
            let callee = &functions[group[call.callee]];
            if !function.sums.is_empty() {
                let places = [at, group[call.callee]];
                let smaller = smaller_sums(forms, &self.stem, &function, places, &call.args);
                obligations.push(fall(&function, callee, forms, &call.path, smaller));
                continue;
            }
            if function.measure.is_empty() {
                return Err("it is recursive and has no measure".to_owned());
            }
            let pairs: Vec<_> = function
                .measure
                .iter()
                .zip(&callee.measure)
                .map(|(&old, &new)| {
                    let (param, sort) = &function.params[old];
                    (
                        param.as_str(),
                        sort.as_str(),
                        call.args[new],
                        callee.params[new].1.as_str(),
                    )
                })
                .collect();
            let smaller = self.descent.smaller(forms, &pairs).ok_or_else(|| {
                format!(
                    "a call of {} whose arguments do not become smaller{}",
                    callee.shown,
                    without_order(&function.params, &function.measure)
                )
            })?;
            obligations.push(fall(&function, callee, forms, &call.path, smaller));
        }
        Ok(())
    }

    // ---- lemmas ----

    /// For each lemma, the position of the first one in its group.
    fn lemma_groups(&self) -> Vec<usize> {
        let lemmas = &self.certificate.lemmas;
        let mut groups: Vec<usize> = Vec::with_capacity(lemmas.len());
        // The last lemma that one of the group so far uses.
        let mut last = 0;
        for (at, lemma) in lemmas.iter().enumerate() {
            let first = match groups.last() {
                Some(&first) if at <= last => first,
                _ => at,
            };
            groups.push(first);
            let uses = lemma.cases.iter().flat_map(|case| &case.uses);
            last = uses.map(|(other, _)| *other).fold(last, usize::max);
        }
        groups
    }

    /// The sorts of a measure as far as its order depends on them: whether each is that of integers.
    fn measured_kinds(&self, lemma: usize) -> Option<Vec<bool>> {
        let Lemma { vars, measure, .. } = &self.certificate.lemmas[lemma];
        let kinds = measure
            .iter()
            .map(|&m| vars.get(m).map(|(_, sort)| sort == "Int"));
        kinds.collect()
    }

    /// Adds the obligations of a lemma. `groups` are the first lemmas of all groups.
    fn lemma(
        &mut self,
        at: usize,
        groups: &[usize],
        obligations: &mut Vec<Obligation>,
    ) -> Result<(), String> {
        let (own, vars) = (
            self.lemma_symbol(at),
            self.certificate.lemmas[at].vars.clone(),
        );
        let forms = &mut self.certificate.forms;
        let atoms: Vec<FormId> = vars.iter().map(|(name, _)| forms.atom(name)).collect();
        let statement = forms.apply(&own, &atoms);
        let lemma = &self.certificate.lemmas[at];
        let name = lemma.name.clone();
        if lemma.measure.iter().any(|&m| m >= vars.len()) {
            return Err("a measure with a position beyond the variables".to_owned());
        }
        let (measure, cases) = (lemma.measure.clone(), lemma.cases.clone());
        let mut obligation = |what: String, formula| {
            obligations.push(Obligation {
                what: format!("lemma {name}: {what}"),
                vars: vars.clone(),
                formula,
            });
        };
        let forms = &mut self.certificate.forms;
        let guards = cases.iter().map(|case| case.guard);
        let covered: Vec<FormId> = std::iter::once(statement).chain(guards).collect();
        let covered = forms.apply("or", &covered);
        obligation("that its cases cover all values".to_owned(), covered);
        for (number, case) in cases.iter().enumerate() {
            let number = number + 1;
            let mut premises = vec![case.guard];
            for terms in &case.induction {
                let forms = &mut self.certificate.forms;
                if terms.len() != vars.len() {
                    return Err(format!(
                        "case {number}: an instance needs {} terms",
                        vars.len()
                    ));
                }
                let pairs: Vec<_> = measure
                    .iter()
                    .map(|&m| {
                        let (name, sort) = &vars[m];
                        (name.as_str(), sort.as_str(), terms[m], sort.as_str())
                    })
                    .collect();
                let smaller = self.descent.smaller(forms, &pairs).ok_or_else(|| {
                    format!(
                        "case {number}: an induction hypothesis that is not smaller{}",
                        without_order(&vars, &measure)
                    )
                })?;
                let open = forms.apply("not", &[statement]);
                let path = conjunction(forms, &[case.guard, open]);
                let formula = forms.apply("=>", &[path, smaller]);
                let what = format!("that an induction hypothesis of case {number} is smaller");
                obligation(what, formula);
                premises.push(forms.apply(&own, terms));
            }
            for (other, terms) in &case.uses {
                let lemmas = &self.certificate.lemmas;
                if lemmas[*other].vars.len() != terms.len() {
                    return Err(format!(
                        "case {number}: an instance of {} needs {} terms",
                        lemmas[*other].name,
                        lemmas[*other].vars.len()
                    ));
                }
                // A lemma of the group is used as an induction hypothesis.
                if groups[*other] == groups[at] {
                    let theirs = lemmas[*other].vars.clone();
                    let their_measure = lemmas[*other].measure.clone();
                    let used = &lemmas[*other].name;
                    if self.measured_kinds(at) != self.measured_kinds(*other) {
                        return Err(format!(
                            "case {number}: its measure does not suit that of {used}"
                        ));
                    }
                    let pairs: Vec<_> = measure
                        .iter()
                        .zip(&their_measure)
                        .map(|(&old, &new)| {
                            let (name, sort) = &vars[old];
                            (
                                name.as_str(),
                                sort.as_str(),
                                terms[new],
                                theirs[new].1.as_str(),
                            )
                        })
                        .collect();
                    let smaller = self.descent.smaller(&mut self.certificate.forms, &pairs);
                    let smaller = smaller.ok_or_else(|| {
                        let used = &self.certificate.lemmas[*other].name;
                        format!(
                            "case {number}: lemma {used} is not proven before, and its instance is \
                             not smaller{}",
                            without_order(&vars, &measure)
                        )
                    })?;
                    let forms = &mut self.certificate.forms;
                    let open = forms.apply("not", &[statement]);
                    let path = conjunction(forms, &[case.guard, open]);
                    let formula = forms.apply("=>", &[path, smaller]);
                    let used = &self.certificate.lemmas[*other].name;
                    let what = format!("that the instance of {used} in case {number} is smaller");
                    obligation(what, formula);
                }
                let symbol = self.lemma_symbol(*other);
                premises.push(self.certificate.forms.apply(&symbol, terms));
            }
            for (function, args) in &case.unfoldings {
                let Function {
                    name,
                    shown,
                    params,
                    ..
                } = self.function(*function);
                if params.len() != args.len() {
                    return Err(format!(
                        "case {number}: {shown} needs {} arguments",
                        params.len()
                    ));
                }
                let (name, body) = (name.clone(), self.body_symbol(*function));
                let forms = &mut self.certificate.forms;
                let (call, body) = (forms.apply(&name, args), forms.apply(&body, args));
                premises.push(forms.apply("=", &[call, body]));
            }
            let forms = &mut self.certificate.forms;
            let premise = conjunction(forms, &premises);
            let formula = forms.apply("=>", &[premise, statement]);
            obligation(format!("case {number}"), formula);
        }
        Ok(())
    }

    /// The symbol of a lemma's statement in scripts.
    fn lemma_symbol(&self, lemma: usize) -> String {
        format!("{}l{lemma}", self.stem)
    }

    /// The symbol of a function's body in scripts.
    fn body_symbol(&self, function: usize) -> String {
        format!("{}b{function}", self.stem)
    }
}

/// Whether a function is called in terms.
fn calls_functions(forms: &Forms, functions: &[Function], terms: &[FormId]) -> bool {
    let is_name = |name: &str| functions.iter().any(|f| f.name == name);
    let mut found = false;
    for &term in terms {
        forms.post_order(term, |id| {
            found |= forms.atom_text(id).is_some_and(is_name);
        });
    }
    found
}

/// A formula that the integers of a callee's measure are smaller for the arguments of a call than those
/// of the caller's. `places` are the positions of the caller and of the callee.
fn smaller_sums(
    forms: &mut Forms,
    stem: &str,
    caller: &Function,
    places: [usize; 2],
    args: &[FormId],
) -> FormId {
    let params = caller.params.iter().map(|p| forms.atom(p.0.as_str()));
    let params: Vec<FormId> = params.collect();
    let pairs: Vec<(FormId, FormId)> = (0..caller.sums.len())
        .map(|sum| {
            let old = forms.apply(&sum_symbol(stem, places[0], sum), &params);
            let new = forms.apply(&sum_symbol(stem, places[1], sum), args);
            (old, new)
        })
        .collect();
    descent::smaller_integers(forms, &pairs)
}

/// The symbol of an integer of a function's measure in scripts.
fn sum_symbol(stem: &str, function: usize, at: usize) -> String {
    format!("{stem}m{function}_{at}")
}

/// The obligation that a call has smaller arguments under the conditions on its path.
fn fall(
    function: &Function,
    callee: &Function,
    forms: &mut Forms,
    path: &[FormId],
    smaller: FormId,
) -> Obligation {
    let path = conjunction(forms, path);
    Obligation {
        what: format!(
            "function {}: that a call of {} has smaller arguments",
            function.shown, callee.shown
        ),
        vars: function.params.clone(),
        formula: forms.apply("=>", &[path, smaller]),
    }
}

/// The end of a message about terms that are not smaller: the reason, if the measure has no order.
fn without_order(vars: &Variables, measure: &[usize]) -> String {
    if measure.is_empty() {
        return ", as there is no measure".to_owned();
    }
    let is_unordered = |sort: &str| {
        ["Bool", "Real"].contains(&sort) || sort.starts_with("(_ ") || sort.starts_with("(Array ")
    };
    let unordered = measure.iter().find(|&&m| is_unordered(&vars[m].1));
    unordered.map_or(String::new(), |&m| {
        format!(", as {} at position {m} has no order", vars[m].1)
    })
}
