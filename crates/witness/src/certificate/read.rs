//! Reading certificates.
//!
//! After the model's S-expression, in comments,
//!
//! ```text
//! ; measure FUNCTION (POSITION ...)
//! ; lemma NAME ((VARIABLE SORT) ...) STATEMENT :measure (POSITION ...)
//!     :case (GUARD :induction ((TERM ...) ...) :use ((NAME TERM ...) ...) :unfold (CALL ...)) ...
//! ```
//!
//! where a lemma is one line. Positions count from 0 and are distinct; in their place a measure may
//! have terms over the function's parameters, which are integers. A function has at most one measure,
//! lemmas are used by name, and all parts that begin with a colon are optional.
//!
//! # Invariant
//! Everything after the keywords `measure` and `lemma` is read, or an error with its place.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::{Case, Certificate, Function, Lemma, Variables};
use crate::comments::{Failure, failure, parts};
use crate::forms::{FormId, Forms, normal_atom};
use crate::sexp::{ambiguity, elements, expression, symbol};

/// The keywords of its lines.
const KEYWORDS: [&str; 2] = ["measure", "lemma"];

/// Whether comments from `start` on have parts of a certificate.
pub fn has_certificate(text: &str, start: usize) -> bool {
    parts(text, start, KEYWORDS).next().is_some()
}

/// Reads a certificate part by part.
pub struct CertificateReader<'a> {
    text: &'a str,
    certificate: Certificate,
    /// Functions with a measure.
    measured: FxHashSet<usize>,
    /// The names of all lemmas.
    lemmas: Vec<String>,
}

impl<'a> CertificateReader<'a> {
    /// A reader of `text`, without functions and lemmas yet.
    pub fn new(text: &'a str) -> Self {
        CertificateReader {
            text,
            certificate: Certificate {
                forms: Forms::default(),
                functions: Vec::new(),
                groups: Vec::new(),
                lemmas: Vec::new(),
                plain: String::new(),
            },
            measured: FxHashSet::default(),
            lemmas: Vec::new(),
        }
    }

    /// Adds a definition that is not recursive.
    pub fn add_plain(&mut self, command: &str) {
        self.certificate.plain.push_str(command);
        self.certificate.plain.push('\n');
    }

    /// Adds a `define-fun-rec` or `define-funs-rec`, and returns the names of its functions.
    pub fn add_functions(
        &mut self,
        command: &Range<usize>,
        is_size: bool,
    ) -> Result<Vec<String>, Failure> {
        self.unambiguous(command)?;
        let parts = self.list(command)?;
        let word = parts.first().map(|r| &self.text[r.clone()]);
        let (heads, bodies) = match (word, parts.as_slice()) {
            (Some("define-fun-rec"), [_, name, params, result, body]) => {
                let head = [name.clone(), params.clone(), result.clone()];
                (vec![head.to_vec()], vec![body.clone()])
            }
            (Some("define-funs-rec"), [_, heads, bodies]) => {
                let heads = self.list(heads)?.into_iter().map(|head| self.list(&head));
                (heads.collect::<Result<_, _>>()?, self.list(bodies)?)
            }
            _ => return failure(command.start, "a malformed definition"),
        };
        if heads.len() != bodies.len() || heads.is_empty() {
            return failure(command.start, "the numbers of functions and bodies differ");
        }
        let group = self.certificate.groups.len();
        let mut names = Vec::new();
        let mut members = Vec::new();
        for (head, body) in heads.iter().zip(&bodies) {
            let [name, params, result] = head.as_slice() else {
                return failure(command.start, "a malformed function");
            };
            let name = normal_atom(&self.text[name.clone()]);
            let function = Function {
                name: name.clone(),
                shown: name.clone(),
                params: self.variables(params)?,
                result: self.sort(result)?,
                body: self.form(body)?,
                measure: Vec::new(),
                sums: Vec::new(),
                group,
                is_size,
            };
            members.push(self.certificate.functions.len());
            self.certificate.functions.push(function);
            names.push(symbol(&name).to_owned());
        }
        self.certificate.groups.push(members);
        Ok(names)
    }

    /// The certificate, with the measures and lemmas in the comments from `start` to `end`.
    pub fn finish(mut self, start: usize, end: usize) -> Result<Certificate, Failure> {
        let mut lines = Vec::new();
        for (keyword, range) in parts(&self.text[..end], start, KEYWORDS) {
            self.unambiguous(&range)?;
            let mut expressions = Vec::new();
            let line = &self.text[..range.end];
            let mut position = range.start;
            while !line[position..].trim_start().is_empty() {
                let Some(found) = expression(line, position) else {
                    return failure(position, "this does not end on its line");
                };
                position = found.end;
                expressions.push(found);
            }
            // Lemmas may use later ones, so their names come first.
            if keyword == "lemma"
                && let Some(name) = expressions.first()
            {
                self.lemmas.push(normal_atom(&self.text[name.clone()]));
            }
            lines.push((keyword, range.start, expressions));
        }
        for (keyword, place, expressions) in lines {
            if keyword == "measure" {
                self.measure(place, &expressions)?;
            } else {
                self.lemma(place, &expressions)?;
            }
        }
        Ok(self.certificate)
    }

    /// Reads a measure.
    fn measure(&mut self, place: usize, parts: &[Range<usize>]) -> Result<(), Failure> {
        let [name, positions] = parts else {
            return failure(place, "a measure is a function and positions");
        };
        let name = normal_atom(&self.text[name.clone()]);
        let items = self.list(positions)?;
        let is_digit = |c: char| c.is_ascii_digit();
        let is_number = |item: &Range<usize>| self.text[item.clone()].chars().all(is_digit);
        let (positions, sums) = match items.iter().all(is_number) {
            true => (self.positions(positions)?, Vec::new()),
            false => (Vec::new(), self.forms(&items)?),
        };
        let functions = &mut self.certificate.functions;
        let Some(at) = functions.iter().position(|f| f.name == name) else {
            return failure(place, format!("there is no function {name}"));
        };
        if !self.measured.insert(at) {
            return failure(place, format!("two measures of {name}"));
        }
        functions[at].measure = positions;
        functions[at].sums = sums;
        Ok(())
    }

    /// Reads a lemma.
    fn lemma(&mut self, place: usize, parts: &[Range<usize>]) -> Result<(), Failure> {
        let [name, vars, statement, rest @ ..] = parts else {
            return failure(place, "a lemma is a name, variables and a statement");
        };
        let name = normal_atom(&self.text[name.clone()]);
        if self.certificate.lemmas.iter().any(|l| l.name == name) {
            return failure(place, format!("two lemmas {name}"));
        }
        let mut lemma = Lemma {
            name,
            vars: self.variables(vars)?,
            statement: self.form(statement)?,
            measure: Vec::new(),
            cases: Vec::new(),
        };
        let mut has_measure = false;
        for (keyword, value) in self.options(rest)? {
            match keyword {
                ":measure" if has_measure => {
                    return failure(value.start, "a lemma with two measures");
                }
                ":measure" => {
                    lemma.measure = self.positions(&value)?;
                    has_measure = true;
                }
                ":case" => {
                    let case = self.case(&value)?;
                    lemma.cases.push(case);
                }
                _ => return failure(value.start, format!("{keyword} is no part of a lemma")),
            }
        }
        self.certificate.lemmas.push(lemma);
        Ok(())
    }

    /// Reads a case.
    fn case(&mut self, range: &Range<usize>) -> Result<Case, Failure> {
        let parts = self.list(range)?;
        let Some((guard, rest)) = parts.split_first() else {
            return failure(range.start, "a case without its guard");
        };
        let mut case = Case {
            guard: self.form(guard)?,
            induction: Vec::new(),
            uses: Vec::new(),
            unfoldings: Vec::new(),
        };
        for (keyword, value) in self.options(rest)? {
            let items = self.list(&value)?;
            match keyword {
                ":induction" => {
                    for item in items {
                        let terms = self.list(&item)?;
                        case.induction.push(self.forms(&terms)?);
                    }
                }
                ":use" => {
                    for item in items {
                        case.uses.push(self.instance(&item)?);
                    }
                }
                ":unfold" => {
                    for item in items {
                        case.unfoldings.push(self.call(&item)?);
                    }
                }
                _ => return failure(value.start, format!("{keyword} is no part of a case")),
            }
        }
        Ok(case)
    }

    /// Reads an instance of a lemma: its position, and terms for its variables.
    fn instance(&mut self, range: &Range<usize>) -> Result<(usize, Vec<FormId>), Failure> {
        let parts = self.list(range)?;
        let Some((name, terms)) = parts.split_first() else {
            return failure(range.start, "the name of a lemma is missing");
        };
        let name = normal_atom(&self.text[name.clone()]);
        match self.lemmas.iter().position(|lemma| *lemma == name) {
            Some(at) => Ok((at, self.forms(terms)?)),
            None => failure(range.start, format!("there is no lemma {name}")),
        }
    }

    /// Reads a call: the position of the function, and its arguments.
    fn call(&mut self, range: &Range<usize>) -> Result<(usize, Vec<FormId>), Failure> {
        let form = self.form(range)?;
        let Certificate {
            forms, functions, ..
        } = &self.certificate;
        let call = forms.application(form).and_then(|(name, args)| {
            let at = functions.iter().position(|f| f.name == name)?;
            Some((at, args.to_vec()))
        });
        call.ok_or_else(|| (range.start, "not a call of a function".to_owned()))
    }

    /// Keywords with the ranges of their values.
    fn options(&self, parts: &[Range<usize>]) -> Result<Vec<(&'a str, Range<usize>)>, Failure> {
        parts
            .chunks(2)
            .map(|pair| match pair {
                [keyword, value] if self.text[keyword.clone()].starts_with(':') => {
                    Ok((&self.text[keyword.clone()], value.clone()))
                }
                _ => failure(pair[0].start, "a keyword and its value are needed"),
            })
            .collect()
    }

    /// Rejects a range that readers may split into other tokens.
    fn unambiguous(&self, range: &Range<usize>) -> Result<(), Failure> {
        match ambiguity(self.text, range) {
            Some(place) => failure(place, "solvers may read this differently"),
            None => Ok(()),
        }
    }

    fn list(&self, range: &Range<usize>) -> Result<Vec<Range<usize>>, Failure> {
        elements(self.text, range).ok_or_else(|| (range.start, "a list is needed".to_owned()))
    }

    fn form(&mut self, range: &Range<usize>) -> Result<FormId, Failure> {
        let form = self.certificate.forms.read(self.text, range);
        form.map_err(|message| (range.start, message))
    }

    fn forms(&mut self, ranges: &[Range<usize>]) -> Result<Vec<FormId>, Failure> {
        ranges.iter().map(|range| self.form(range)).collect()
    }

    /// Reads a sort; equal sorts have equal texts.
    fn sort(&mut self, range: &Range<usize>) -> Result<String, Failure> {
        let form = self.form(range)?;
        let text = self.certificate.forms.tree(form, self.text.len());
        text.ok_or_else(|| (range.start, "a sort is needed".to_owned()))
    }

    fn variables(&mut self, range: &Range<usize>) -> Result<Variables, Failure> {
        let list = self.list(range)?;
        let pairs = list
            .into_iter()
            .map(|pair| match self.list(&pair)?.as_slice() {
                [name, sort] if !self.text[name.clone()].starts_with('(') => {
                    Ok((normal_atom(&self.text[name.clone()]), self.sort(sort)?))
                }
                _ => failure(pair.start, "a variable is a name and a sort"),
            });
        pairs.collect()
    }

    fn positions(&self, range: &Range<usize>) -> Result<Vec<usize>, Failure> {
        let mut positions = Vec::new();
        for number in self.list(range)? {
            match self.text[number.clone()].parse() {
                Ok(position) if positions.contains(&position) => {
                    return failure(number.start, "a position that is there twice");
                }
                Ok(position) => positions.push(position),
                Err(_) => return failure(number.start, "a position is needed"),
            }
        }
        Ok(positions)
    }
}
