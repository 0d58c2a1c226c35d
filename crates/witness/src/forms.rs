//! S-expressions of a certificate as a DAG.
//!
//! Reading replaces the names of a `let` by their values, following SMT-LIB's scopes, so that an
//! expression has only the variables of its definition or lemma. Equal expressions are stored once,
//! and writing puts shared terms under `let` again.
//!
//! # Invariant
//! Forms have no sorts or operators: a written form differs from the text that was read only in
//! `let`s, bars of symbols, white space, comments, and symbols after [`Forms::rename`]. There is no
//! recursion.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::sexp::{TokenKind, Tokens};
use alphorn_term::quote_symbol;

/// Heads of lists in which not all other elements are terms.
const BINDERS: [&str; 8] = [
    "match", "forall", "exists", "lambda", "choice", "_", "as", "!",
];

/// Those that bind variables in all elements after the binders.
const QUANTIFIERS: [&str; 4] = ["forall", "exists", "lambda", "choice"];

/// An S-expression in the table of its [`Forms`]; equal ones have equal ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FormId(u32);

/// The structure of an S-expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// A symbol, with bars only if it needs them, or a literal.
    Atom(String),
    /// The elements of a list.
    List(Vec<FormId>),
}

/// A table of S-expressions, each stored once.
#[derive(Clone, Debug, Default)]
pub struct Forms {
    forms: Vec<Form>,
    index: FxHashMap<Form, FormId>,
    /// Names that a `let` binds.
    lets: FxHashSet<String>,
    /// Their values.
    let_values: FxHashSet<FormId>,
}

/// A symbol with bars only if it needs them; a literal unchanged.
pub fn normal_atom(atom: &str) -> String {
    match atom.strip_prefix('|').and_then(|a| a.strip_suffix('|')) {
        Some(name) => quote_symbol(name),
        None => atom.to_owned(),
    }
}

/// A list that is being read.
enum Frame {
    List(Vec<FormId>),
    /// In the list of bindings of a `let`.
    Bindings(Vec<(String, FormId)>),
    /// A binding before its value.
    Binding(String),
    /// A binding after its value.
    Bound(String, FormId),
    /// A `let` before its body, with its names.
    Body(Vec<String>),
    /// A `let` after its body.
    Let(Vec<String>, FormId),
}

impl Forms {
    /// The structure of a form.
    pub fn form(&self, id: FormId) -> &Form {
        &self.forms[id.0 as usize]
    }

    fn intern(&mut self, form: Form) -> FormId {
        if let Some(&found) = self.index.get(&form) {
            return found;
        }
        let id = FormId(u32::try_from(self.forms.len()).expect("fewer than 2^32 forms"));
        self.forms.push(form.clone());
        self.index.insert(form, id);
        id
    }

    /// The atom with this text, which is as [`normal_atom`] gives it.
    pub fn atom(&mut self, text: impl Into<String>) -> FormId {
        self.intern(Form::Atom(text.into()))
    }

    /// The list with these elements.
    pub fn list(&mut self, elements: &[FormId]) -> FormId {
        self.intern(Form::List(elements.to_vec()))
    }

    /// An application of an operator; without arguments the operator itself.
    pub fn apply(&mut self, operator: &str, args: &[FormId]) -> FormId {
        let head = self.atom(operator);
        if args.is_empty() {
            return head;
        }
        let elements: Vec<FormId> = std::iter::once(head).chain(args.iter().copied()).collect();
        self.list(&elements)
    }

    /// The text of an atom; `None` for a list.
    pub fn atom_text(&self, id: FormId) -> Option<&str> {
        match self.form(id) {
            Form::Atom(text) => Some(text),
            Form::List(_) => None,
        }
    }

    /// The elements of a list; none for an atom.
    pub fn elements(&self, id: FormId) -> &[FormId] {
        match self.form(id) {
            Form::Atom(_) => &[],
            Form::List(elements) => elements,
        }
    }

    /// The head of a list and its other elements; an atom is a head without elements. `None` if the
    /// head is no atom.
    pub fn application(&self, id: FormId) -> Option<(&str, &[FormId])> {
        match self.form(id) {
            Form::Atom(text) => Some((text, &[])),
            Form::List(elements) => {
                let (head, args) = elements.split_first()?;
                Some((self.atom_text(*head)?, args))
            }
        }
    }

    /// The texts of all atoms.
    pub fn atoms(&self) -> impl Iterator<Item = &str> {
        self.forms.iter().filter_map(|form| match form {
            Form::Atom(text) => Some(text.as_str()),
            Form::List(_) => None,
        })
    }

    /// The texts of all heads of lists.
    pub fn heads(&self) -> impl Iterator<Item = &str> {
        self.forms.iter().filter_map(|form| match form {
            Form::Atom(_) => None,
            Form::List(elements) => self.atom_text(*elements.first()?),
        })
    }

    /// The names that some `let` binds.
    pub fn let_names(&self) -> &FxHashSet<String> {
        &self.lets
    }

    /// Changes the text of an atom everywhere. No atom has the new text yet.
    pub fn rename(&mut self, old: &str, new: &str) {
        if let Some(id) = self.index.remove(&Form::Atom(old.to_owned())) {
            self.forms[id.0 as usize] = Form::Atom(new.to_owned());
            self.index.insert(Form::Atom(new.to_owned()), id);
        }
    }

    /// A name that a quantifier or a pattern binds, and that a `let` binds or has in its value:
    /// then replacing the `let` may have captured a variable. Atoms in patterns for which
    /// `is_constructor` holds bind nothing.
    pub fn captured(&self, is_constructor: impl Fn(&str) -> bool) -> Option<&str> {
        let mut used: FxHashSet<FormId> = FxHashSet::default();
        let mut stack: Vec<FormId> = self.let_values.iter().copied().collect();
        while let Some(id) = stack.pop() {
            if used.insert(id) {
                stack.extend(self.without_binders(id));
            }
        }
        let all = (0..self.forms.len()).map(|id| FormId(id as u32));
        let mut bound = all.flat_map(|id| self.bound(id)).filter_map(|id| {
            let name = self.atom_text(id)?;
            (!is_constructor(name)).then_some((id, name))
        });
        let captured = bound.find(|(id, name)| used.contains(id) || self.lets.contains(*name));
        captured.map(|(_, name)| name)
    }

    /// The atoms that a quantifier or a `match` binds, with constructors without fields; none for
    /// other lists.
    fn bound(&self, id: FormId) -> Vec<FormId> {
        let first = |list: &FormId| self.elements(*list).first().copied();
        match (self.application(id), self.elements(id)) {
            (Some(("match", _)), [_, _, cases]) => {
                let patterns = self.elements(*cases).iter().filter_map(first);
                let names = patterns.flat_map(|pattern| match self.elements(pattern) {
                    [] => vec![pattern],
                    [head, ..] if self.atom_text(*head) == Some("as") => Vec::new(),
                    [_, names @ ..] => names.to_vec(),
                });
                names.collect()
            }
            (Some((head, _)), [_, vars, ..]) if QUANTIFIERS.contains(&head) => {
                self.elements(*vars).iter().filter_map(first).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The elements of a list; of a quantifier or a `match` only the terms.
    fn without_binders(&self, id: FormId) -> Vec<FormId> {
        match (self.application(id), self.elements(id)) {
            (Some(("match", _)), [_, scrutinee, cases]) => {
                let cases = self.elements(*cases).iter();
                let bodies = cases.filter_map(|case| self.elements(*case).get(1));
                std::iter::once(scrutinee).chain(bodies).copied().collect()
            }
            (Some((head, _)), [_, _, rest @ ..]) if QUANTIFIERS.contains(&head) => rest.to_vec(),
            (_, elements) => elements.to_vec(),
        }
    }

    /// Calls `visit` once for each form in `root`, elements before their list.
    pub fn post_order(&self, root: FormId, mut visit: impl FnMut(FormId)) {
        let mut seen: FxHashSet<FormId> = FxHashSet::default();
        let mut stack = vec![(root, false)];
        while let Some((id, done)) = stack.pop() {
            if done {
                visit(id);
            } else if seen.insert(id) {
                stack.push((id, true));
                stack.extend(self.elements(id).iter().rev().map(|&e| (e, false)));
            }
        }
    }

    /// Reads the expression in `range`, with the values of `let`s in place of their names.
    ///
    /// # Errors
    /// The expression or a `let` is malformed.
    pub fn read(&mut self, text: &str, range: &Range<usize>) -> Result<FormId, String> {
        let mut scope: FxHashMap<String, Vec<FormId>> = FxHashMap::default();
        let mut stack: Vec<Frame> = Vec::new();
        let mut tokens = Tokens::new(&text[..range.end], range.start).peekable();
        let broken = || "an expression that does not end".to_owned();
        let no_let = || "a malformed `let`".to_owned();
        while let Some(token) = tokens.next() {
            let mut done = None;
            match token.kind {
                TokenKind::Unterminated => return Err(broken()),
                TokenKind::Open => {
                    let next = tokens.peek().ok_or_else(broken)?;
                    let word = &text[next.range.clone()];
                    let is_atom = next.kind == TokenKind::Atom;
                    match stack.last() {
                        Some(Frame::Bindings(_)) if is_atom => {
                            stack.push(Frame::Binding(normal_atom(word)));
                            tokens.next();
                        }
                        Some(Frame::Bindings(_) | Frame::Bound(..) | Frame::Let(..)) => {
                            return Err(no_let());
                        }
                        _ if is_atom && word == "let" => {
                            tokens.next();
                            let list = tokens.next();
                            if list.is_none_or(|t| t.kind != TokenKind::Open) {
                                return Err(no_let());
                            }
                            stack.push(Frame::Bindings(Vec::new()));
                        }
                        _ => stack.push(Frame::List(Vec::new())),
                    }
                }
                TokenKind::Atom | TokenKind::String => {
                    let name = normal_atom(&text[token.range]);
                    let is_head = matches!(stack.last(), Some(Frame::List(l)) if l.is_empty());
                    let bound = scope.get(&name).and_then(|values| values.last());
                    done = Some(match bound {
                        Some(&value) if !is_head => value,
                        _ => self.atom(name),
                    });
                }
                TokenKind::Close => match stack.pop().ok_or_else(broken)? {
                    Frame::List(elements) => done = Some(self.list(&elements)),
                    Frame::Bound(name, value) => match stack.last_mut() {
                        Some(Frame::Bindings(bindings)) => bindings.push((name, value)),
                        _ => return Err(no_let()),
                    },
                    Frame::Bindings(bindings) => {
                        let names = bindings.iter().map(|(name, _)| name.clone()).collect();
                        for (name, value) in bindings {
                            self.lets.insert(name.clone());
                            self.let_values.insert(value);
                            scope.entry(name).or_default().push(value);
                        }
                        stack.push(Frame::Body(names));
                    }
                    Frame::Let(names, value) => {
                        for name in names {
                            scope.get_mut(&name).map(Vec::pop);
                        }
                        done = Some(value);
                    }
                    Frame::Binding(_) | Frame::Body(_) => return Err(no_let()),
                },
            }
            let Some(value) = done else { continue };
            match stack.pop() {
                None if tokens.peek().is_none() => return Ok(value),
                None => return Err("more than one expression".to_owned()),
                Some(Frame::List(mut elements)) => {
                    elements.push(value);
                    stack.push(Frame::List(elements));
                }
                Some(Frame::Binding(name)) => stack.push(Frame::Bound(name, value)),
                Some(Frame::Body(names)) => stack.push(Frame::Let(names, value)),
                Some(Frame::Bindings(_) | Frame::Bound(..) | Frame::Let(..)) => {
                    return Err(no_let());
                }
            }
        }
        Err(broken())
    }

    /// The text of a form without `let`; `None` if it is longer than `limit` bytes.
    pub fn tree(&self, root: FormId, limit: usize) -> Option<String> {
        let mut out = String::new();
        self.write(&mut out, root, &FxHashMap::default(), limit)?;
        Some(out)
    }

    /// The text of a term, with `let`s for shared terms, whose names begin with `stem`. `None` if
    /// it is longer than `limit` bytes.
    pub fn term(&self, root: FormId, stem: &str, limit: usize) -> Option<String> {
        let mut names: FxHashMap<FormId, String> = FxHashMap::default();
        let mut out = String::new();
        let mut count = 0;
        for id in self.shared(root) {
            let name = format!("{stem}t{count}");
            count += 1;
            out.push_str(&format!("(let (({name} "));
            self.write(&mut out, id, &names, limit)?;
            out.push_str(")) ");
            names.insert(id, name);
        }
        self.write(&mut out, root, &names, limit)?;
        out.extend(std::iter::repeat_n(')', count));
        Some(out)
    }

    /// The elements of a list that are terms over the variables in scope around it.
    pub fn terms_of(&self, id: FormId) -> &[FormId] {
        let elements = self.elements(id);
        match elements.first().map(|&head| self.form(head)) {
            None => &[],
            Some(Form::Atom(head)) if head == "match" => &elements[1..elements.len().min(2)],
            Some(Form::Atom(head)) if BINDERS.contains(&head.as_str()) => &[],
            Some(_) => &elements[1..],
        }
    }

    /// The terms that are lists and occur more than once, arguments before applications.
    fn shared(&self, root: FormId) -> Vec<FormId> {
        let mut uses: FxHashMap<FormId, u32> = FxHashMap::default();
        let mut order = Vec::new();
        let mut stack = vec![(root, false)];
        while let Some((id, done)) = stack.pop() {
            if done {
                order.push(id);
                continue;
            }
            let count = uses.entry(id).or_default();
            *count += 1;
            if *count == 1 {
                stack.push((id, true));
                stack.extend(self.terms_of(id).iter().rev().map(|&e| (e, false)));
            }
        }
        order.retain(|id| uses[id] > 1 && !self.elements(*id).is_empty());
        order
    }

    /// Writes a form; `names` are the names of shared terms.
    fn write(
        &self,
        out: &mut String,
        root: FormId,
        names: &FxHashMap<FormId, String>,
        limit: usize,
    ) -> Option<()> {
        enum Item {
            /// A form, and whether it is a term.
            Form(FormId, bool),
            Text(&'static str),
        }
        let mut stack = vec![Item::Form(root, true)];
        while let Some(item) = stack.pop() {
            if out.len() > limit {
                return None;
            }
            let (id, is_term) = match item {
                Item::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Item::Form(id, is_term) => (id, is_term),
            };
            if let Some(name) = names.get(&id).filter(|_| is_term) {
                out.push_str(name);
                continue;
            }
            match self.form(id) {
                Form::Atom(text) => out.push_str(text),
                Form::List(elements) => {
                    out.push('(');
                    stack.push(Item::Text(")"));
                    let terms = if is_term { self.terms_of(id).len() } else { 0 };
                    for (position, &element) in elements.iter().enumerate().rev() {
                        stack.push(Item::Form(element, (1..=terms).contains(&position)));
                        if position > 0 {
                            stack.push(Item::Text(" "));
                        }
                    }
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(forms: &mut Forms, text: &str) -> Result<FormId, String> {
        forms.read(text, &(0..text.len()))
    }

    #[test]
    fn lets_are_replaced() {
        let mut forms = Forms::default();
        for (text, expected) in [
            ("(f |x| |a b| \"s\")", "(f x |a b| \"s\")"),
            (
                "(let ((a (g y)) (y a)) (f a y (let ((a 1)) a) a))",
                "(f (g y) a 1 (g y))",
            ),
            ("(let ((|a| 1)) (a a))", "(a 1)"),
            ("(let () x)", "x"),
            (
                "((_ is c) (let ((a 1)) (let ((b (+ a a))) b)))",
                "((_ is c) (+ 1 1))",
            ),
        ] {
            let form = read(&mut forms, text).unwrap();
            assert_eq!(forms.tree(form, 1000).unwrap(), expected);
        }
        for text in [
            "",
            "(",
            "(f",
            ")",
            "f g",
            "(let)",
            "(let x y)",
            "(let ((a)) a)",
            "(let ((a 1 2)) a)",
            "(let (((a) 1)) a)",
            "(let ((a 1)) a a)",
            "(let ((a 1)))",
            "(let (a) a)",
            "(|a)",
        ] {
            assert!(read(&mut forms, text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_that_a_binder_captures_are_found() {
        let captured = |text: &str| {
            let mut forms = Forms::default();
            read(&mut forms, text).unwrap();
            forms.captured(|name| name == "nil").map(str::to_owned)
        };
        for (text, name) in [
            (
                "(let ((y p)) (match x (((cons p q) (= p y)) (nil y))))",
                "p",
            ),
            (
                "(let ((y q)) (match x (((cons p q) (= p y)) (nil y))))",
                "q",
            ),
            ("(let ((y z)) (match x (((cons p q) p) (z y))))", "z"),
            (
                "(forall ((n Int)) (let ((m (f n))) (exists ((n Int)) (= n m))))",
                "n",
            ),
            ("(let ((n 3)) (forall ((n Int)) (= n 3)))", "n"),
        ] {
            assert_eq!(captured(text).as_deref(), Some(name), "{text}");
        }
        for text in [
            "(match x (((cons p q) (= p y)) (nil q)))",
            "(let ((y nil)) (match x (((cons p q) (= p y)) (nil y))))",
            "(let ((y (match x (((cons p q) true) (o false))))) \
              (and y (match y (((cons p q) true) (o false)))))",
            "(let ((y (forall ((n Int)) true))) (and y (exists ((n Int)) (= n m))))",
        ] {
            assert_eq!(captured(text), None, "{text}");
        }
    }

    #[test]
    fn atoms_get_other_names() {
        let mut forms = Forms::default();
        let form = read(&mut forms, "(f (g f) (_ is f) |h f|)").unwrap();
        forms.rename("f", "c!f");
        forms.rename("k", "c!k");
        let shown = forms.tree(form, 100).unwrap();
        assert_eq!(shown, "(c!f (g c!f) (_ is c!f) |h f|)");
        assert_eq!(forms.atom("c!f"), forms.elements(form)[0]);
    }

    #[test]
    fn what_is_shared_is_written_once() {
        let mut forms = Forms::default();
        let mut text = "x".to_owned();
        for _ in 0..200 {
            text = format!("(let ((a {text})) (+ a a))");
        }
        let form = read(&mut forms, &text).unwrap();
        assert_eq!(forms.tree(form, 10_000), None);
        let written = forms.term(form, "s!", 100_000).unwrap();
        assert_eq!(read(&mut forms, &written).unwrap(), form);
        // Forms that are no terms are not shared.
        let text =
            "(f (g x) ((_ is c) (g x)) (match (g x) (((c f) (g x)) (o false))) (as n (g x)))";
        let form = read(&mut forms, text).unwrap();
        assert_eq!(
            forms.term(form, "s!", 1000).unwrap(),
            "(let ((s!t0 (g x))) (f s!t0 ((_ is c) s!t0) \
             (match s!t0 (((c f) (g x)) (o false))) (as n (g x))))"
        );
    }
}
