//! The scripts for the check of a certificate.
//!
//! # Invariant
//! Lemmas are assumed only in scripts about clauses, which are checked after all obligations of the
//! functions and lemmas were found valid.

use std::fmt::Write;

use super::{Checker, FormId, Function, Obligation, Standalone, Variables, sum_symbol};
use crate::limits::LIMITS;
use alphorn_smt::text::Reading;

impl Checker {
    /// Declarations, and the obligations as assertions in their order; `None` if the text is too
    /// long.
    pub(super) fn obligations_text(&self, obligations: &[Obligation]) -> Option<String> {
        let mut out = self.declarations();
        out.push_str(&self.own_names());
        out.push_str(&self.bodies()?);
        out.push_str(&self.statements()?);
        for obligation in obligations {
            let formula = self.term(obligation.formula)?;
            writeln!(out, "(assert {})", forall(&obligation.vars, &formula)).expect("string");
            if out.len() > LIMITS.max_script_bytes {
                return None;
            }
        }
        Some(out)
    }

    /// The definitions of the predicates in several readings: with the functions defined, with
    /// their equations assumed, with neither, and with the functions defined but without the
    /// lemmas, which the other readings assume. `None` if a text is too long.
    pub(super) fn readings(&self) -> Option<Vec<Reading>> {
        let certificate = &self.certificate;
        let plain = &certificate.plain;
        let (declarations, recursive) = (self.declarations(), self.recursive()?);
        let lemmas = format!("{}{}", self.statements()?, self.lemmas()?);
        let equations = format!("{declarations}{}{}", self.bodies()?, self.equations());
        let reading = |functions: &str, assumptions: usize, decides: bool| Reading {
            text: format!("{functions}{lemmas}{plain}"),
            assumptions: assumptions + certificate.lemmas.len(),
            decides,
        };
        let mut readings = vec![
            reading(&recursive, 0, true),
            reading(&equations, certificate.functions.len(), false),
            reading(&declarations, 0, false),
        ];
        if !certificate.lemmas.is_empty() {
            readings.push(Reading {
                text: format!("{recursive}{plain}"),
                assumptions: 0,
                decides: true,
            });
        }
        Some(readings)
    }

    /// The obligations as closed formulas, with the declarations that they need, and the model as
    /// in the first reading. `None` if a text is too long.
    pub(super) fn standalone(&self, obligations: &[Obligation]) -> Option<Standalone> {
        let mut formulas = Vec::with_capacity(obligations.len());
        for obligation in obligations {
            let formula = self.term(obligation.formula)?;
            let what = obligation.what.replace(['\n', '\r'], " ");
            formulas.push((what, forall(&obligation.vars, &formula)));
        }
        let declarations = format!(
            "{}{}{}",
            self.declarations(),
            self.bodies()?,
            self.statements()?
        );
        Some(Standalone {
            declarations,
            obligations: formulas,
            definitions: self.readings()?.swap_remove(0).text,
        })
    }

    fn term(&self, form: FormId) -> Option<String> {
        self.certificate
            .forms
            .term(form, &self.stem, LIMITS.max_script_bytes)
    }

    /// Declarations of the functions.
    pub(super) fn declarations(&self) -> String {
        let mut out = String::new();
        for function in &self.certificate.functions {
            out.push_str(&declaration(&function.name, function));
        }
        out
    }

    /// Declarations of the functions under the names as written, which are not used: Z3 rejects a
    /// name that is no symbol, or that of an operation.
    fn own_names(&self) -> String {
        let functions = self.certificate.functions.iter();
        functions.map(|f| declaration(&f.shown, f)).collect()
    }

    /// Definitions for the functions' bodies and measures.
    pub(super) fn bodies(&self) -> Option<String> {
        let mut out = String::new();
        for (at, function) in self.certificate.functions.iter().enumerate() {
            let Function {
                params,
                result,
                body,
                ..
            } = function;
            let (symbol, params) = (self.body_symbol(at), binders(params));
            let body = self.term(*body)?;
            writeln!(out, "(define-fun {symbol} ({params}) {result} {body})").expect("string");
            for (sum, &form) in function.sums.iter().enumerate() {
                let (symbol, term) = (sum_symbol(&self.stem, at, sum), self.term(form)?);
                writeln!(out, "(define-fun {symbol} ({params}) Int {term})").expect("string");
            }
        }
        Some(out)
    }

    /// The recursive definitions of the functions.
    fn recursive(&self) -> Option<String> {
        let mut out = String::new();
        for group in &self.certificate.groups {
            let mut heads = String::new();
            let mut bodies = String::new();
            for &member in group {
                let Function {
                    name,
                    params,
                    result,
                    body,
                    ..
                } = self.function(member);
                write!(heads, "({name} ({}) {result})", binders(params)).expect("string");
                writeln!(bodies, "{}", self.term(*body)?).expect("string");
            }
            writeln!(out, "(define-funs-rec ({heads}) ({bodies}))").expect("string");
        }
        Some(out)
    }

    /// The functions' equations as assertions, with the call as the pattern.
    fn equations(&self) -> String {
        let mut out = String::new();
        for (at, function) in self.certificate.functions.iter().enumerate() {
            let call = applied(&function.name, &function.params);
            let body = applied(&self.body_symbol(at), &function.params);
            let formula = match function.params.is_empty() {
                true => format!("(= {call} {body})"),
                false => format!("(! (= {call} {body}) :pattern ({call}))"),
            };
            writeln!(out, "(assert {})", forall(&function.params, &formula)).expect("string");
        }
        out
    }

    /// Definitions for the lemmas' statements.
    fn statements(&self) -> Option<String> {
        let mut out = String::new();
        for (at, lemma) in self.certificate.lemmas.iter().enumerate() {
            let (symbol, vars) = (self.lemma_symbol(at), binders(&lemma.vars));
            let statement = self.term(lemma.statement)?;
            writeln!(out, "(define-fun {symbol} ({vars}) Bool {statement})").expect("string");
        }
        Some(out)
    }

    /// The lemmas as assertions, with patterns.
    fn lemmas(&self) -> Option<String> {
        let mut out = String::new();
        for (at, lemma) in self.certificate.lemmas.iter().enumerate() {
            let mut formula = applied(&self.lemma_symbol(at), &lemma.vars);
            let patterns = self.patterns(lemma.statement, &lemma.vars);
            if !patterns.is_empty() {
                let patterns = patterns.iter().map(|p| format!(" :pattern ({p})"));
                formula = format!("(! {formula}{})", patterns.collect::<String>());
            }
            writeln!(out, "(assert {})", forall(&lemma.vars, &formula)).expect("string");
        }
        Some(out)
    }

    /// The patterns for a statement: its largest calls that have all variables and consist of
    /// functions, constructors, selectors and values. Smaller ones may match their own instances
    /// forever.
    fn patterns(&self, statement: FormId, vars: &Variables) -> Vec<String> {
        let forms = &self.certificate.forms;
        let functions = &self.certificate.functions;
        let is_function = |name: &str| functions.iter().any(|f| f.name == name);
        let mut largest = 1;
        let mut found: Vec<String> = Vec::new();
        if vars.is_empty() {
            return found;
        }
        forms.post_order(statement, |id| {
            let args = forms.elements(id);
            if !forms
                .application(id)
                .is_some_and(|(name, _)| is_function(name))
                || args.is_empty()
            {
                return;
            }
            let mut missing: Vec<&str> = vars.iter().map(|(name, _)| name.as_str()).collect();
            let mut is_plain = true;
            let mut size = 0;
            forms.post_order(id, |part| {
                size += 1;
                if let Some(name) = forms.atom_text(part) {
                    missing.retain(|&var| var != name);
                } else if let Some((head, _)) = forms.application(part) {
                    let is_sorted = head == "as";
                    is_plain &=
                        is_sorted || is_function(head) || self.descent.is_of_datatypes(head);
                }
            });
            if missing.is_empty() && is_plain && size >= largest {
                let Some(text) = forms.tree(id, LIMITS.max_pattern_bytes) else {
                    return;
                };
                if size > largest {
                    found.clear();
                }
                largest = size;
                found.push(text);
            }
        });
        found
    }
}

/// The definition of a predicate by a call of the function that it is.
pub(super) fn as_predicate(function: &Function) -> String {
    let Function {
        name,
        shown,
        params,
        result,
        ..
    } = function;
    let (binders, call) = (binders(params), applied(name, params));
    format!("(define-fun {shown} ({binders}) {result} {call})\n")
}

fn declaration(name: &str, function: &Function) -> String {
    let sorts: Vec<&str> = function.params.iter().map(|(_, sort)| &**sort).collect();
    let result = &function.result;
    format!("(declare-fun {name} ({}) {result})\n", sorts.join(" "))
}

fn binders(vars: &Variables) -> String {
    let pairs: Vec<String> = vars
        .iter()
        .map(|(name, sort)| format!("({name} {sort})"))
        .collect();
    pairs.join(" ")
}

fn forall(vars: &Variables, formula: &str) -> String {
    match vars.as_slice() {
        [] => formula.to_owned(),
        _ => format!("(forall ({}) {formula})", binders(vars)),
    }
}

/// A symbol applied to variables.
fn applied(symbol: &str, vars: &Variables) -> String {
    let mut out = symbol.to_owned();
    if !vars.is_empty() {
        for (name, _) in vars {
            write!(out, " {name}").expect("string");
        }
        out = format!("({out})");
    }
    out
}
