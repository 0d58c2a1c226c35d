//! Instances of assertions as text.
//!
//! Universal quantifiers in positive position of an assertion and existential ones in negative
//! position give way to a `let` that binds their variables to parameters: `(forall ((x Int)) F)`
//! becomes `(let ((x v!0)) F)` with the same text `F`. The assertion implies the result for all
//! values of the parameters. Such a quantifier of another clause of the same assertion becomes
//! `true` in positive position and `false` in negative position, which the assertion implies, too.
//!
//! # Invariant
//! Everything else but annotations is copied from the text. Quantifiers in other positions, in a
//! constraint for example, stay.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::super::limits::LIMITS;
use super::super::sexp::{TokenKind, Tokens, elements, symbol};

/// An instance of an assertion with parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The text of a formula over the parameters.
    pub formula: String,
    /// For each parameter its sort as in the assertion, and the position of the clause's variable
    /// whose value it gets.
    pub params: Vec<(String, usize)>,
}

/// The polarity of a subformula's position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Positive,
    Negative,
    /// In an equation or a condition, for example.
    Neither,
}

impl Position {
    fn flipped(self) -> Position {
        match self {
            Position::Positive => Position::Negative,
            Position::Negative => Position::Positive,
            Position::Neither => Position::Neither,
        }
    }
}

/// A part that is not written yet.
enum Work {
    Text(String),
    Copy(Range<usize>),
    Formula(Range<usize>, Position),
}

/// A variable that a quantifier binds.
struct Binder<'a> {
    /// The name as it is written.
    name: &'a str,
    sort: &'a str,
}

/// The instance of an assertion's formula for a clause with variables of these names and sorts, in
/// the order of their quantifiers. Parameters are named `stem` and their number.
///
/// # Errors
/// A quantifier is malformed, or too many variables of the clause have the name of a quantifier's
/// variable.
pub fn instance(
    formula: &str,
    variables: &[(String, String)],
    stem: &str,
) -> Result<Instance, String> {
    let quantifiers: Vec<usize> = Tokens::new(formula, 0)
        .filter(|token| {
            token.kind == TokenKind::Atom
                && matches!(&formula[token.range.clone()], "forall" | "exists")
        })
        .map(|token| token.range.start)
        .collect();
    let mut positions: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (position, (name, _)) in variables.iter().enumerate() {
        positions.entry(name).or_default().push(position);
    }
    let mut writer = Writer {
        formula,
        variables,
        quantifiers,
        positions,
        stem,
        instances: 0,
        work: vec![Work::Formula(0..formula.len(), Position::Positive)],
        out: String::with_capacity(formula.len() + 64),
        params: Vec::new(),
    };
    while let Some(work) = writer.work.pop() {
        match work {
            Work::Text(text) => writer.out.push_str(&text),
            Work::Copy(range) => writer.out.push_str(&formula[range]),
            Work::Formula(range, position) => writer.formula(range, position)?,
        }
    }
    Ok(Instance {
        formula: writer.out,
        params: writer.params,
    })
}

struct Writer<'a> {
    formula: &'a str,
    variables: &'a [(String, String)],
    /// The offsets of the symbols `forall` and `exists`.
    quantifiers: Vec<usize>,
    /// The positions of the clause's variables by name.
    positions: FxHashMap<&'a str, Vec<usize>>,
    stem: &'a str,
    /// The number of instances of quantifiers so far.
    instances: usize,
    /// The parts that are not written yet, the last one first.
    work: Vec<Work>,
    out: String,
    params: Vec<(String, usize)>,
}

impl<'a> Writer<'a> {
    /// Writes a formula, or the work for it.
    fn formula(&mut self, range: Range<usize>, position: Position) -> Result<(), String> {
        let text = self.formula;
        let next = self.quantifiers.partition_point(|&at| at < range.start);
        let has_quantifier = self.quantifiers.get(next).is_some_and(|&at| at < range.end);
        let parts = match has_quantifier && position != Position::Neither {
            true => elements(text, &range).unwrap_or_default(),
            false => Vec::new(),
        };
        let Some(head) = parts.first() else {
            self.out.push_str(&text[range]);
            return Ok(());
        };
        let last = parts.len() - 1;
        let children: Vec<Position> = match symbol(&text[head.clone()]) {
            word @ ("forall" | "exists") if parts.len() == 3 => {
                if (word == "forall") == (position == Position::Positive) {
                    return self.quantifier(&parts, position);
                }
                vec![Position::Neither; 3]
            }
            "and" | "or" => vec![position; parts.len()],
            "not" => vec![position.flipped(); parts.len()],
            "=>" => {
                let mut children = vec![position.flipped(); parts.len()];
                children[last] = position;
                children
            }
            "ite" if parts.len() == 4 => {
                let condition = Position::Neither;
                vec![condition, condition, position, position]
            }
            "let" if parts.len() == 3 => vec![Position::Neither, Position::Neither, position],
            // The annotation may belong to a quantifier that is instantiated.
            "!" if parts.len() > 1 => {
                self.work.push(Work::Formula(parts[1].clone(), position));
                return Ok(());
            }
            _ => vec![Position::Neither; parts.len()],
        };
        // From the last part to the first, with the text between them.
        let mut end = range.end;
        for (part, child) in parts.iter().zip(children).skip(1).rev() {
            self.work.push(Work::Copy(part.end..end));
            self.work.push(Work::Formula(part.clone(), child));
            end = part.start;
        }
        self.work.push(Work::Copy(range.start..end));
        Ok(())
    }

    /// Writes the instances of a quantifier with each combination of candidates for its variables.
    fn quantifier(&mut self, parts: &[Range<usize>], position: Position) -> Result<(), String> {
        let text = self.formula;
        let malformed = || "a malformed quantifier".to_owned();
        let mut binders = Vec::new();
        for binder in elements(text, &parts[1]).ok_or_else(malformed)? {
            let binder = elements(text, &binder).ok_or_else(malformed)?;
            let [name, sort] = binder.as_slice() else {
                return Err(malformed());
            };
            let (name, sort) = (&text[name.clone()], &text[sort.clone()]);
            binders.push(Binder { name, sort });
        }
        let candidates: Vec<Vec<usize>> = binders.iter().map(|b| self.candidates(b)).collect();
        let combinations: usize = candidates.iter().map(Vec::len).product();
        let (neutral, junction) = match position {
            Position::Positive => ("true", "and"),
            _ => ("false", "or"),
        };
        if combinations == 0 {
            self.out.push_str(neutral);
            return Ok(());
        }
        self.instances += combinations;
        if self.instances > LIMITS.max_assertion_instances {
            return Err("too many variables have the same name".to_owned());
        }
        let mut written = Vec::new();
        if combinations > 1 {
            written.push(Work::Text(format!("({junction}")));
        }
        for number in 0..combinations {
            let mut rest = number;
            let mut head = String::from(if combinations > 1 {
                " (let ("
            } else {
                "(let ("
            });
            for (binder, candidates) in binders.iter().zip(&candidates) {
                let variable = candidates[rest % candidates.len()];
                rest /= candidates.len();
                let param = self.params.len();
                self.params.push((binder.sort.to_owned(), variable));
                let (name, stem) = (binder.name, self.stem);
                head.push_str(&format!("({name} {stem}{param})"));
            }
            head.push_str(") ");
            written.push(Work::Text(head));
            written.push(Work::Formula(parts[2].clone(), position));
            written.push(Work::Text(")".to_owned()));
        }
        if combinations > 1 {
            written.push(Work::Text(")".to_owned()));
        }
        self.work.extend(written.into_iter().rev());
        Ok(())
    }

    /// The candidates for a quantifier's variable: the clause's variables of its name, if there are
    /// several only those of its sort.
    fn candidates(&self, binder: &Binder<'_>) -> Vec<usize> {
        let named = self.positions.get(symbol(binder.name));
        let named = named.cloned().unwrap_or_default();
        let sort = |position: &usize| self.variables[*position].1 == binder.sort;
        match named.iter().copied().filter(sort).collect::<Vec<_>>() {
            same if named.len() > 1 && !same.is_empty() => same,
            _ => named,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(formula: &str, variables: &[&str]) -> (String, Vec<usize>) {
        let variables = variables
            .iter()
            .map(|&v| v.split_once(':').unwrap_or((v, "Int")));
        let variables: Vec<(String, String)> = variables
            .map(|(name, sort)| (name.to_owned(), sort.to_owned()))
            .collect();
        let instance = instance(formula, &variables, "v!").expect("an instance");
        let params = instance.params.iter().map(|(_, variable)| *variable);
        (instance.formula, params.collect())
    }

    #[test]
    fn outer_quantifiers_are_instantiated() {
        for (formula, variables, expected, params) in [
            (
                "(forall ((x Int) (|y z| Real)) (=> (P x) ; why\n (Q |y z|)))",
                &["x", "y z"][..],
                "(let ((x v!0)(|y z| v!1)) (=> (P x) ; why\n (Q |y z|)))",
                &[0, 1][..],
            ),
            (
                "(not (exists ((x Int)) (and (P x) (forall ((y Int)) (Q y)))))",
                &["x"],
                "(not (let ((x v!0)) (and (P x) (forall ((y Int)) (Q y)))))",
                &[0],
            ),
            (
                "(forall ((x Int)) (! (=> (P x) (forall ((y Int)) (Q y))) :pattern ((P x))))",
                &["x", "y"],
                "(let ((x v!0)) (=> (P x) (let ((y v!1)) (Q y))))",
                &[0, 1],
            ),
            // Of two conjuncts one is the clause.
            (
                "(and (forall ((x Int)) (P x)) (forall ((y Int)) (Q y)))",
                &["y"],
                "(and true (let ((y v!0)) (Q y)))",
                &[0],
            ),
            (
                "(=> (exists ((x Int)) (P x)) (ite c (forall ((y Int)) (Q y)) R))",
                &["x"],
                "(=> (let ((x v!0)) (P x)) (ite c true R))",
                &[0],
            ),
            // Two variables of one name.
            (
                "(forall ((x Int)) (=> (exists ((x Int)) (P x)) (Q x)))",
                &["x", "x"],
                "(and (let ((x v!0)) (=> (or (let ((x v!2)) (P x)) (let ((x v!3)) (P x))) (Q x))) \
                 (let ((x v!1)) (=> (or (let ((x v!4)) (P x)) (let ((x v!5)) (P x))) (Q x))))",
                &[0, 1, 0, 1, 0, 1],
            ),
            // They are of different sorts.
            (
                "(forall ((x Int)) (=> (exists ((x Bool)) x) (P x)))",
                &["x", "x:Bool"],
                "(let ((x v!0)) (=> (let ((x v!1)) x) (P x)))",
                &[0, 1],
            ),
            ("false", &[], "false", &[]),
        ] {
            let (text, found) = written(formula, variables);
            assert_eq!((text.as_str(), &found[..]), (expected, params), "{formula}");
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let depth = 2_000;
        let formula = format!(
            "{}(forall ((x Int)) (P x)){}",
            "(and ".repeat(depth),
            ")".repeat(depth)
        );
        // The time is quadratic in the depth, so the depth is small.
        let (text, _) = written(&formula[..], &["x"]);
        assert!(text.contains("(let ((x v!0)) (P x))"));
    }
}
