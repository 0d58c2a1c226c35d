//! Formulas and values as people write them: infix operators, the program's names, arrays and records
//! as what is in them.
//!
//! The input is the printed text of a witness. What is shown is only a reading aid: the exact text is
//! on the page beside it.
//!
//! Invariant: recursion is bounded by [`MAX_DEPTH`], since deeper text is not read, and the output by
//! [`MAX_NODES`] parts of a formula.

use std::collections::HashMap;
use std::fmt::Write;

use super::escaped;

/// The deepest text that is read.
const MAX_DEPTH: usize = 150;
/// The most atoms and lists of a text that is read, and of a formula after its `let`s are expanded.
const MAX_NODES: usize = 20_000;

/// An S-expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sexp {
    /// A symbol (with its bars, if it has some) or a literal.
    Atom(String),
    /// A list.
    List(Vec<Sexp>),
}

use Sexp::{Atom, List};

impl Sexp {
    /// Reads one S-expression; `None` if it is too deep, too long, or none.
    pub fn read(text: &str) -> Option<Sexp> {
        let mut open: Vec<Vec<Sexp>> = vec![Vec::new()];
        let (mut rest, mut nodes) = (text, 0);
        loop {
            rest = rest.trim_start();
            let Some(first) = rest.chars().next() else {
                break;
            };
            nodes += 1;
            if nodes > MAX_NODES || open.len() > MAX_DEPTH {
                return None;
            }
            match first {
                '(' => {
                    open.push(Vec::new());
                    rest = &rest[1..];
                }
                ')' => {
                    let list = open.pop()?;
                    open.last_mut()?.push(List(list));
                    rest = &rest[1..];
                }
                _ => {
                    let end = match first {
                        '|' | '"' => rest[1..].find(first).map(|at| at + 2)?,
                        _ => {
                            let ends = |c: char| c.is_whitespace() || "()|\"".contains(c);
                            rest.find(ends).unwrap_or(rest.len())
                        }
                    };
                    open.last_mut()?.push(Atom(rest[..end].to_owned()));
                    rest = &rest[end..];
                }
            }
        }
        match (open.len(), open.pop()?.as_mut_slice()) {
            (1, [only]) => Some(std::mem::replace(only, List(Vec::new()))),
            _ => None,
        }
    }

    /// The head of an application and its arguments.
    fn application(&self) -> Option<(&Sexp, &[Sexp])> {
        match self {
            List(items) => items.split_first(),
            Atom(_) => None,
        }
    }

    /// The operator of an application, if it is a symbol, and the arguments.
    fn call(&self) -> Option<(&str, &[Sexp])> {
        match self.application()? {
            (Atom(name), arguments) => Some((name, arguments)),
            _ => None,
        }
    }

    fn atom(&self) -> Option<&str> {
        match self {
            Atom(text) => Some(text),
            List(_) => None,
        }
    }

    /// The arguments of `(head a b …)` if this is one.
    fn arguments_of(&self, head: &str) -> Option<&[Sexp]> {
        self.call().filter(|call| call.0 == head).map(|call| call.1)
    }
}

/// The conjuncts of a formula, with its `let`s expanded; one formula if it is not read that far.
pub fn conjuncts(formula: &Sexp) -> Vec<Sexp> {
    let Some(formula) = without_lets(formula) else {
        return vec![formula.clone()];
    };
    let mut all = Vec::new();
    let mut open = vec![formula];
    while let Some(next) = open.pop() {
        match next {
            List(mut items) if items.first().and_then(Sexp::atom) == Some("and") => {
                open.extend(items.drain(1..).rev());
            }
            other => all.push(other),
        }
    }
    all
}

/// The formula with the terms of its `let`s in the places of their names; `None` if that is too long.
fn without_lets(formula: &Sexp) -> Option<Sexp> {
    expand(formula, &HashMap::new(), &mut 0)
}

fn expand<'a>(term: &'a Sexp, names: &HashMap<&'a str, Sexp>, nodes: &mut usize) -> Option<Sexp> {
    *nodes += 1;
    if *nodes > MAX_NODES {
        return None;
    }
    let items = match term {
        Atom(name) => {
            let value = names.get(name.as_str());
            if let Some(value) = value {
                *nodes += size(value);
            }
            return Some(value.unwrap_or(term).clone());
        }
        List(items) => items,
    };
    if let [Atom(word), List(bindings), body] = &items[..]
        && word == "let"
    {
        let mut inner = names.clone();
        for binding in bindings {
            let List(pair) = binding else { return None };
            let [Atom(name), value] = &pair[..] else {
                return None;
            };
            inner.insert(name, expand(value, names, nodes)?);
        }
        return expand(body, &inner, nodes);
    }
    let items = items.iter().map(|item| expand(item, names, nodes));
    Some(List(items.collect::<Option<_>>()?))
}

fn size(term: &Sexp) -> usize {
    match term {
        Atom(_) => 1,
        List(items) => 1 + items.iter().map(size).sum::<usize>(),
    }
}

/// How strongly an operator binds; operands that bind less are in parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Formula,
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Tight,
}

/// Shows terms with these names of arguments and these fields of records.
#[derive(Default)]
pub struct Reader {
    /// The names that stand for arguments, as `x!0`.
    pub names: HashMap<String, String>,
    /// The names of the fields, by constructor.
    pub fields: HashMap<String, Vec<String>>,
}

impl Reader {
    /// A formula or a value as text, with its `let`s expanded if it is short then.
    pub fn text(&self, term: &Sexp) -> String {
        let expanded = without_lets(term);
        self.shown(expanded.as_ref().unwrap_or(term), Level::Formula)
    }

    fn shown(&self, term: &Sexp, around: Level) -> String {
        let (text, level) = self.with_level(term);
        match level < around {
            true => format!("({text})"),
            false => text,
        }
    }

    fn symbol(&self, name: &str) -> String {
        if let Some(name) = self.names.get(name) {
            return name.clone();
        }
        match name.strip_prefix('|').and_then(|n| n.strip_suffix('|')) {
            Some(inner) => inner.to_owned(),
            None => name.to_owned(),
        }
    }

    fn joined(&self, terms: &[Sexp], operator: &str, level: Level) -> (String, Level) {
        let shown: Vec<String> = terms.iter().map(|t| self.shown(t, next(level))).collect();
        (shown.join(operator), level)
    }

    fn with_level(&self, term: &Sexp) -> (String, Level) {
        let Some((head, arguments)) = term.application() else {
            return (self.symbol(term.atom().unwrap_or("()")), Level::Tight);
        };
        let Atom(operator) = head else {
            return self.indexed(head, arguments);
        };
        match (operator.as_str(), arguments) {
            ("and", [_, _, ..]) => self.joined(arguments, " ∧ ", Level::And),
            ("or", [_, _, ..]) => self.disjunction(arguments),
            ("=>", [premise, conclusion]) => (
                format!(
                    "{} ⇒ {}",
                    self.shown(premise, Level::Or),
                    self.shown(conclusion, Level::Formula)
                ),
                Level::Formula,
            ),
            ("not", [inner]) => self.negation(inner),
            ("=" | "<=" | "<" | ">=" | ">", [left, right]) => {
                self.comparison(operator, left, right)
            }
            ("distinct", [_, _]) => self.joined(arguments, " ≠ ", Level::Comparison),
            ("+", [_, _, ..]) => self.sum(arguments),
            ("-", [inner]) => (
                format!("−{}", self.shown(inner, Level::Tight)),
                match inner {
                    Atom(_) => Level::Tight,
                    List(_) => Level::Product,
                },
            ),
            ("-", [_, _, ..]) => self.joined(arguments, " − ", Level::Sum),
            ("*", [_, _, ..]) => self.joined(arguments, "·", Level::Product),
            ("/", [_, _]) => self.joined(arguments, "/", Level::Product),
            ("div" | "mod", [_, _]) => {
                self.joined(arguments, &format!(" {operator} "), Level::Product)
            }
            ("ite", [condition, yes, no]) => (
                format!(
                    "if {} then {} else {}",
                    self.text(condition),
                    self.shown(yes, Level::Or),
                    self.shown(no, Level::Or)
                ),
                Level::Formula,
            ),
            ("select", [array, index]) => (
                format!("{}[{}]", self.shown(array, Level::Tight), self.text(index)),
                Level::Tight,
            ),
            ("store", [_, _, _]) => (self.stores(term), Level::Tight),
            ("forall" | "exists", [List(vars), body]) => {
                let sign = if operator == "forall" { "∀" } else { "∃" };
                let vars = vars.iter().filter_map(|v| v.application());
                let vars: Vec<String> = vars.map(|(name, _)| self.text(name)).collect();
                let body = self.text(body);
                (format!("{sign}{}. {body}", vars.join(" ")), Level::Formula)
            }
            ("_", [Atom(value), Atom(_)]) if value.starts_with("bv") => {
                (value[2..].to_owned(), Level::Tight)
            }
            (_, [only]) if self.is_field(operator) => (
                format!(
                    "{}.{}",
                    self.shown(only, Level::Tight),
                    self.symbol(operator)
                ),
                Level::Tight,
            ),
            _ => self.function(&self.symbol(operator), arguments),
        }
    }

    fn function(&self, name: &str, arguments: &[Sexp]) -> (String, Level) {
        let shown: Vec<String> = arguments.iter().map(|a| self.text(a)).collect();
        (format!("{name}({})", shown.join(", ")), Level::Tight)
    }

    fn is_field(&self, name: &str) -> bool {
        self.fields.values().flatten().any(|field| field == name)
    }

    /// An application whose operator is a list: a test, a constant array, an indexed operator.
    fn indexed(&self, head: &Sexp, arguments: &[Sexp]) -> (String, Level) {
        match (head.call(), arguments) {
            (Some(("_", [Atom(is), constructor])), [only]) if is == "is" => (
                format!(
                    "{} is {}",
                    self.shown(only, Level::Sum),
                    self.text(constructor)
                ),
                Level::Comparison,
            ),
            (Some(("as", [Atom(word), _])), [only]) if word == "const" => {
                (format!("[all ↦ {}]", self.text(only)), Level::Tight)
            }
            (Some(("as", [Atom(name), _])), _) => self.function(&self.symbol(name), arguments),
            (Some(("_", words)), _) => {
                let words: Vec<String> = words.iter().map(|word| self.text(word)).collect();
                self.function(&words.join("_"), arguments)
            }
            _ => self.function(&self.text(head), arguments),
        }
    }

    /// A disjunction; negated parts that are no comparisons become premises.
    fn disjunction(&self, parts: &[Sexp]) -> (String, Level) {
        let is_premise = |part: &&Sexp| {
            let inner = part.arguments_of("not").and_then(<[Sexp]>::first);
            inner.is_some_and(|inner| inverse(inner).is_none())
        };
        let (negated, rest): (Vec<&Sexp>, Vec<&Sexp>) = parts.iter().partition(is_premise);
        if negated.is_empty() || rest.is_empty() {
            return self.joined(parts, " ∨ ", Level::Or);
        }
        let premises = negated.iter().filter_map(|part| part.arguments_of("not"));
        let premises = premises.filter_map(<[Sexp]>::first);
        let premises: Vec<String> = premises.map(|p| self.shown(p, Level::Comparison)).collect();
        let level = if rest.len() > 1 {
            Level::And
        } else {
            Level::Or
        };
        let rest: Vec<String> = rest.iter().map(|part| self.shown(part, level)).collect();
        (
            format!("{} ⇒ {}", premises.join(" ∧ "), rest.join(" ∨ ")),
            Level::Formula,
        )
    }

    fn negation(&self, inner: &Sexp) -> (String, Level) {
        match (inverse(inner), inner.call()) {
            (Some(operator), Some((_, [left, right]))) => self.comparison(operator, left, right),
            _ => (
                format!("¬{}", self.shown(inner, Level::Tight)),
                Level::Comparison,
            ),
        }
    }

    fn comparison(&self, operator: &str, left: &Sexp, right: &Sexp) -> (String, Level) {
        if let (Some(linear), true) = (Linear::of(left, right), is_numeric(operator, left, right)) {
            return (linear.text(operator, self), Level::Comparison);
        }
        let (left, right) = (self.shown(left, Level::Sum), self.shown(right, Level::Sum));
        (
            format!("{left} {} {right}", sign(operator)),
            Level::Comparison,
        )
    }

    fn sum(&self, parts: &[Sexp]) -> (String, Level) {
        let mut linear = Linear::default();
        for part in parts {
            if linear.add(part, 1).is_none() {
                return self.joined(parts, " + ", Level::Sum);
            }
        }
        (linear.sum(self), Level::Sum)
    }

    /// An array that was written: what is elsewhere, and the cells, the last write of each.
    fn written<'a>(&self, array: &'a Sexp) -> (&'a Sexp, Vec<(&'a Sexp, &'a Sexp)>) {
        let mut cells: Vec<(&Sexp, &Sexp)> = Vec::new();
        let mut at = array;
        while let Some([inner, index, value]) = at.arguments_of("store") {
            if !cells.iter().any(|cell| cell.0 == index) {
                cells.push((index, value));
            }
            at = inner;
        }
        cells.reverse();
        (at, cells)
    }

    fn stores(&self, array: &Sexp) -> String {
        let (base, cells) = self.written(array);
        let cells = cells
            .iter()
            .map(|(index, value)| format!("{} ↦ {}", self.text(index), self.text(value)));
        let cells: Vec<String> = cells.collect();
        match base.application() {
            Some((head, [only])) if head.arguments_of("as").is_some() => {
                format!("[{}; else {}]", cells.join(", "), self.text(only))
            }
            _ => format!("{}[{}]", self.shown(base, Level::Tight), cells.join(", ")),
        }
    }

    /// A value as HTML: tables of what was written for arrays and of the fields for records.
    pub fn html(&self, value: &Sexp) -> String {
        let (base, cells) = self.written(value);
        if !cells.is_empty() {
            let mut out = "<table class=\"value\">".to_owned();
            for (index, value) in cells {
                let index = escaped(&self.text(index));
                let _ = write!(
                    out,
                    "<tr><th>[{index}]</th><td>{}</td></tr>",
                    self.html(value)
                );
            }
            let elsewhere = match base.application() {
                Some((head, [only])) if head.arguments_of("as").is_some() => self.html(only),
                _ => self.html(base),
            };
            let _ = write!(out, "<tr><th>else</th><td>{elsewhere}</td></tr></table>");
            return out;
        }
        let fields = |name: &str| self.fields.get(&self.symbol(name));
        if let Some((name, arguments)) = value.call()
            && let Some(fields) = fields(name).filter(|fields| fields.len() == arguments.len())
        {
            let name = escaped(&self.symbol(name));
            let mut out = format!("<table class=\"value\"><caption>{name}</caption>");
            for (field, argument) in fields.iter().zip(arguments) {
                let (field, argument) = (escaped(field), self.html(argument));
                let _ = write!(out, "<tr><th>{field}</th><td>{argument}</td></tr>");
            }
            out.push_str("</table>");
            return out;
        }
        format!("<code>{}</code>", escaped(&self.text(value)))
    }
}

fn next(level: Level) -> Level {
    match level {
        Level::Formula => Level::Or,
        Level::Or => Level::And,
        Level::And => Level::Comparison,
        Level::Comparison => Level::Sum,
        Level::Sum => Level::Product,
        Level::Product | Level::Tight => Level::Tight,
    }
}

/// The comparison that holds where this one does not.
fn inverse(comparison: &Sexp) -> Option<&'static str> {
    match comparison.call()? {
        ("<=", [_, _]) => Some(">"),
        ("<", [_, _]) => Some(">="),
        (">=", [_, _]) => Some("<"),
        (">", [_, _]) => Some("<="),
        ("=", [_, _]) => Some("distinct"),
        _ => None,
    }
}

fn sign(operator: &str) -> &str {
    match operator {
        "<=" => "≤",
        ">=" => "≥",
        "distinct" => "≠",
        other => other,
    }
}

/// Whether a comparison is between numbers, as far as its text shows.
fn is_numeric(operator: &str, left: &Sexp, right: &Sexp) -> bool {
    let is_sum = |term: &Sexp| matches!(term.call(), Some(("+" | "-" | "*", _)));
    matches!(operator, "<=" | "<" | ">=" | ">") || is_sum(left) || is_sum(right)
}

/// A sum of products of a coefficient and a term, and a constant.
#[derive(Default)]
struct Linear {
    terms: Vec<(i128, Sexp)>,
    constant: i128,
}

impl Linear {
    /// `left - right`; `None` where a number is too large.
    fn of(left: &Sexp, right: &Sexp) -> Option<Linear> {
        let mut linear = Linear::default();
        linear.add(left, 1)?;
        linear.add(right, -1)?;
        Some(linear)
    }

    fn add(&mut self, term: &Sexp, factor: i128) -> Option<()> {
        if let Some(number) = number(term) {
            self.constant = self.constant.checked_add(number.checked_mul(factor)?)?;
            return Some(());
        }
        match term.call() {
            Some(("+", parts)) => parts.iter().try_for_each(|part| self.add(part, factor)),
            Some(("-", [only])) => self.add(only, factor.checked_neg()?),
            Some(("-", [first, rest @ ..])) => {
                self.add(first, factor)?;
                let factor = factor.checked_neg()?;
                rest.iter().try_for_each(|part| self.add(part, factor))
            }
            Some(("*", [coefficient, inner])) if number(coefficient).is_some() => {
                self.add(inner, factor.checked_mul(number(coefficient)?)?)
            }
            // A number with a fraction, or too large.
            None if term.atom()?.starts_with(|c: char| c.is_ascii_digit()) => None,
            _ => {
                match self.terms.iter_mut().find(|known| known.1 == *term) {
                    Some(known) => known.0 = known.0.checked_add(factor)?,
                    None => self.terms.push((factor, term.clone())),
                }
                Some(())
            }
        }
    }

    /// The comparison of the sum with 0, with positive coefficients on both sides.
    fn text(&self, operator: &str, reader: &Reader) -> String {
        let side = |positive: bool| -> Vec<String> {
            let terms = self
                .terms
                .iter()
                .filter(|t| t.0 != 0 && (t.0 > 0) == positive);
            terms
                .map(|t| product(t.0.unsigned_abs(), &t.1, reader))
                .collect()
        };
        let (left, right) = (side(true), side(false));
        let (left, right, operator, constant) = match left.is_empty() && !right.is_empty() {
            true => (right, left, mirrored(operator), self.constant),
            false => (left, right, operator, self.constant.wrapping_neg()),
        };
        let left = match left.is_empty() {
            true => "0".to_owned(),
            false => left.join(" + "),
        };
        let mut far = right.join(" + ");
        if far.is_empty() {
            far = signed(constant);
        } else if constant != 0 {
            let sign = if constant < 0 { "−" } else { "+" };
            let _ = write!(far, " {sign} {}", constant.unsigned_abs());
        }
        format!("{left} {} {far}", sign(operator))
    }

    fn sum(&self, reader: &Reader) -> String {
        let mut out = String::new();
        for (factor, term) in self.terms.iter().filter(|term| term.0 != 0) {
            let sign = match (out.is_empty(), *factor < 0) {
                (true, false) => "",
                (true, true) => "−",
                (false, false) => " + ",
                (false, true) => " − ",
            };
            out.push_str(sign);
            out.push_str(&product(factor.unsigned_abs(), term, reader));
        }
        match (out.is_empty(), self.constant) {
            (true, constant) => signed(constant),
            (false, 0) => out,
            (false, constant) if constant < 0 => format!("{out} − {}", constant.unsigned_abs()),
            (false, constant) => format!("{out} + {constant}"),
        }
    }
}

fn product(factor: u128, term: &Sexp, reader: &Reader) -> String {
    let shown = reader.shown(term, Level::Product);
    match factor {
        1 => shown,
        factor => format!("{factor}·{shown}"),
    }
}

fn signed(number: i128) -> String {
    match number < 0 {
        true => format!("−{}", number.unsigned_abs()),
        false => number.to_string(),
    }
}

fn mirrored(operator: &str) -> &str {
    match operator {
        "<=" => ">=",
        "<" => ">",
        ">=" => "<=",
        ">" => "<",
        other => other,
    }
}

/// An integer: a numeral or `(- numeral)`, also with the fraction 0.
fn number(term: &Sexp) -> Option<i128> {
    match term {
        Atom(digits) => digits.strip_suffix(".0").unwrap_or(digits).parse().ok(),
        List(_) => number(term.arguments_of("-").filter(|a| a.len() == 1)?.first()?)?.checked_neg(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut reader = Reader::default();
        reader.names.insert("x!0".to_owned(), "x".to_owned());
        reader.names.insert("x!1".to_owned(), "y".to_owned());
        let fields = ["first", "second"].map(str::to_owned).to_vec();
        reader.fields.insert("pair".to_owned(), fields);
        reader.text(&Sexp::read(text).expect("an expression"))
    }

    #[test]
    fn formulas_are_infix_and_simple() {
        for (text, expected) in [
            ("(>= x!0 (- 97))", "x ≥ −97"),
            ("(>= (+ x!0 (* (- 1) x!1)) 0)", "x ≥ y"),
            ("(<= (* (- 1) x!0) 5)", "x ≥ −5"),
            ("(<= (+ (* 2 x!0) (- x!1) 3) 0)", "2·x ≤ y − 3"),
            ("(not (<= x!0 x!1))", "x > y"),
            ("(not (= x!0 x!1))", "x ≠ y"),
            ("(= x!0 (* 2 x!1))", "x = 2·y"),
            ("(= x!0 (- 2))", "x = −2"),
            ("(or (not b) (and c (<= 1 x!0)))", "b ⇒ c ∧ x ≥ 1"),
            ("(or (<= x!0 3) (>= x!1 3))", "x ≤ 3 ∨ y ≥ 3"),
            ("(and a (or b c))", "a ∧ (b ∨ c)"),
            ("(= (mod x!0 2) 0)", "x mod 2 = 0"),
            ("(select a (+ x!0 1))", "a[x + 1]"),
            ("(store (store a 1 2) 3 4)", "a[1 ↦ 2, 3 ↦ 4]"),
            (
                "(store ((as const (Array Int Int)) 0) 7 (- 4))",
                "[7 ↦ −4; else 0]",
            ),
            ("((_ is pair) x!0)", "x is pair"),
            ("(first (pair 1 2))", "pair(1, 2).first"),
            ("(forall ((i Int)) (>= (select a i) 0))", "∀i. a[i] ≥ 0"),
            ("(bvult |a b| (_ bv7 32))", "bvult(a b, 7)"),
            ("(* x!0 (+ x!1 1))", "x·(y + 1)"),
            ("(+ x!0 0.5)", "x + 0.5"),
            (
                "(let ((let!0 ((as const (Array Int Int)) 0))) (pair let!0 (store let!0 1 2)))",
                "pair([all ↦ 0], [1 ↦ 2; else 0])",
            ),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    /// A formula that is shown in another form means the same: values are put in on both sides.
    #[test]
    fn comparisons_keep_their_meaning() {
        let value = |text: &str, x: i64, y: i64| -> i64 {
            let text = text.replace('−', "-").replace(' ', "");
            let mut total = 0;
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let end = rest[1..].find(['+', '-']).map_or(rest.len(), |at| at + 1);
                let part = rest[..end].trim_start_matches('+');
                let (negative, part) = match part.strip_prefix('-') {
                    Some(part) => (-1, part),
                    None => (1, part),
                };
                let factors = part.split('·').map(|factor| match factor {
                    "x" => x,
                    "y" => y,
                    number => number.parse().expect("a number"),
                });
                total += negative * factors.product::<i64>();
                rest = &rest[end..];
            }
            total
        };
        for (a, b, c) in [
            (1, -1, 0),
            (-2, 3, 5),
            (-1, -1, -4),
            (0, -3, 7),
            (4, 0, -1),
            (0, 0, 2),
        ] {
            for (operator, holds) in [
                ("<=", (|l, r| l <= r) as fn(i64, i64) -> bool),
                (">", |l, r| l > r),
                ("=", |l, r| l == r),
            ] {
                let number = |n: i64| {
                    if n < 0 {
                        format!("(- {})", -n)
                    } else {
                        n.to_string()
                    }
                };
                let text = format!(
                    "({operator} (+ (* {} x!0) (* {} x!1)) {})",
                    number(a),
                    number(b),
                    number(c)
                );
                let found = shown(&text);
                let sign = ["≤", "≥", "<", ">", "="]
                    .into_iter()
                    .find(|s| found.contains(s));
                let sign = sign.expect("a comparison");
                let (left, right) = found.split_once(sign).expect("two sides");
                for x in -6..=6 {
                    for y in -6..=6 {
                        let (l, r) = (value(left.trim(), x, y), value(right.trim(), x, y));
                        let now = match sign {
                            "≤" => l <= r,
                            "≥" => l >= r,
                            "<" => l < r,
                            ">" => l > r,
                            _ => l == r,
                        };
                        assert_eq!(now, holds(a * x + b * y, c), "{text}: {found} at {x}, {y}");
                    }
                }
            }
        }
    }

    #[test]
    fn lets_are_expanded_within_bounds() {
        let formula = Sexp::read("(let ((a (>= x 0))) (and a (let ((b (+ x 1))) (= b b))))");
        let parts = conjuncts(&formula.expect("a formula"));
        let shown: Vec<String> = parts.iter().map(|p| Reader::default().text(p)).collect();
        assert_eq!(shown, ["x ≥ 0", "0 = 0"]);
        // Each `let` doubles the formula.
        let mut text = "x".to_owned();
        for _ in 0..40 {
            text = format!("(let ((y {text})) (f y y))");
        }
        let formula = Sexp::read(&text).expect("a formula");
        assert_eq!(conjuncts(&formula), [formula]);
    }

    #[test]
    fn values_are_tables() {
        let mut reader = Reader::default();
        let fields = ["<a>", "b"].map(str::to_owned).to_vec();
        reader.fields.insert("mk".to_owned(), fields);
        let value = "(mk 1 (store (store ((as const (Array Int Int)) 0) 5 6) 5 (- 7)))";
        let html = reader.html(&Sexp::read(value).expect("a value"));
        assert!(
            html.contains("<th>&lt;a&gt;</th><td><code>1</code></td>"),
            "{html}"
        );
        assert!(
            html.contains("<th>[5]</th><td><code>−7</code></td>"),
            "{html}"
        );
        assert!(
            html.contains("<th>else</th><td><code>0</code></td>"),
            "{html}"
        );
        assert!(!html.contains('6'), "{html}");
    }

    #[test]
    fn deep_and_broken_text_is_not_read() {
        let deep = format!("{}x{}", "(not ".repeat(100_000), ")".repeat(100_000));
        assert_eq!(Sexp::read(&deep), None);
        for text in ["", "(", ")", "a b", "|a", "(a))"] {
            assert_eq!(Sexp::read(text), None, "{text}");
        }
        assert!(Sexp::read("|a (b|").is_some());
    }
}
