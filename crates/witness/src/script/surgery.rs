//! Rewriting a text of S-expressions by the roles of its symbols.
//!
//! One pass over the tokens of a command or a formula finds the role of each symbol: whether it is
//! a sort, applied, a variable at its binder, and so on. A [`Surgeon`] gives symbols other names.
//! What readers of SMT-LIB do not agree on gives way to what they do, with the same meaning:
//!
//! | text | becomes |
//! |---|---|
//! | `(! t :named n …)` | `t`; patterns of a quantifier's body stay |
//! | `(forall () t)`, `(exists () t)` | `t` |
//! | a sort `(S)` | `S` |
//! | `((_ divisible n) t)` | `(= 0 (mod t n))` |
//!
//! # Invariant
//! Everything else is copied. The scan is iterative, reads each token once, and does not fail: of a
//! text that is no command or formula it copies what it does not know.

use std::ops::Range;

use super::names::RESERVED;
use crate::sexp::{Token, TokenKind, Tokens, symbol};

/// The role of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// A sort where it is declared or defined.
    NewSort,
    /// A sort.
    Sort,
    /// A predicate or function where it is declared or defined.
    NewFunction,
    /// A constructor where it is declared.
    NewConstructor,
    /// A selector where it is declared.
    NewSelector,
    /// A function that is applied, or named in an index or with a sort.
    Function,
    /// A variable or constant in a term.
    Constant,
    /// A variable where it is bound.
    Variable,
}

/// Decides what is rewritten.
pub(super) trait Surgeon<'t> {
    /// The text that replaces a symbol, which is given without bars; `None` if it stays.
    fn symbol(&mut self, role: Role, symbol: &'t str) -> Option<String>;

    /// Called for a formula that is asserted as a whole and has a label.
    fn labelled(&mut self, _label: &'t str, _term: Range<usize>) {}
}

/// The kind of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Commands.
    Commands,
    /// A term or formula.
    Term,
    /// A sort.
    Sort,
}

/// The text with what the surgeon and the table above replace.
pub(super) fn rewritten<'t>(text: &'t str, part: Part, surgeon: &mut impl Surgeon<'t>) -> String {
    let edits = edits(text, 0..text.len(), part, surgeon);
    let mut out = String::with_capacity(text.len() + 64);
    let mut copied = 0;
    for (range, new) in edits {
        out.push_str(&text[copied..range.start]);
        out.push_str(&new);
        copied = range.end;
    }
    out.push_str(&text[copied..]);
    out
}

/// The replacements in a part of the text, in the order of the text. Ranges are of `text`.
pub(super) fn edits<'t>(
    text: &'t str,
    range: Range<usize>,
    part: Part,
    surgeon: &mut impl Surgeon<'t>,
) -> Vec<(Range<usize>, String)> {
    let tokens: Vec<Token> = Tokens::new(&text[..range.end], range.start).collect();
    let mut closing = vec![0; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Open => open.push(at),
            TokenKind::Close => {
                if let Some(opening) = open.pop() {
                    closing[opening] = at;
                }
            }
            _ => {}
        }
    }
    // A list that does not end is copied.
    for opening in open {
        closing[opening] = tokens.len();
    }
    let top = match part {
        Part::Commands => List::Commands,
        Part::Term => List::Terms,
        Part::Sort => List::Sorts,
    };
    let mut scan = Scan {
        text,
        tokens,
        closing,
        surgeon,
        stack: vec![Frame::new(top)],
        edits: Vec::new(),
    };
    scan.run();
    scan.edits.sort_by_key(|(range, _)| range.start);
    scan.edits
}

/// What is expected next in a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Command,
    Term,
    /// The body of a quantifier.
    Body,
    /// The head of an application: a symbol, or a list that stands for one.
    Head,
    Symbol(Role),
    Sort,
    List(List),
    /// A constructor: a symbol, or a list with its selectors.
    Constructor,
    /// A pattern of a `match`: a symbol, or a constructor with variables.
    Pattern,
    /// The constructors of a datatype, with or without parameters.
    Datatype,
    /// An attribute's keyword or value.
    Attribute,
    Anything,
}

/// A list, by what its elements are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Commands,
    Terms,
    Application,
    Let,
    Bindings,
    Binding,
    Quantifier,
    Binders,
    Binder,
    Match,
    Cases,
    Case,
    Pattern,
    Indexed,
    Signature,
    Qualified,
    Annotated,
    Sorts,
    NewSorts,
    NewSort,
    /// The signature of a recursive function, and a list of these.
    Signatures,
    Rule,
    /// Constructors; those after a name in the older form.
    Constructors,
    OldDatatype,
    Parametric,
    Constructor,
    Selector,
    Datatypes,
    OldDatatypes,
    DeclareFun,
    DeclareVar,
    DeclareConst,
    DeclareSort,
    DeclareDatatypes,
    DeclareOldDatatypes,
    DefineFun,
    DefineConst,
    DefineFunsRec,
    DefineSort,
    Assert,
    Verbatim,
}

impl List {
    /// What the n-th element is, from 0.
    fn expected(self, element: usize) -> Expected {
        use Expected as E;
        match (self, element) {
            (List::Commands, _) => E::Command,
            (List::Terms, _) => E::Term,
            (List::Application, 0) => E::Head,
            (List::Application, _) => E::Term,
            (List::Let, 1) => E::List(List::Bindings),
            (List::Bindings, _) => E::List(List::Binding),
            (List::Binding | List::Binder, 0) => E::Symbol(Role::Variable),
            (List::Let, 2..) | (List::Binding, _) => E::Term,
            (List::Quantifier, 1) => E::List(List::Binders),
            (List::Quantifier, 2..) => E::Body,
            (List::Binders, _) => E::List(List::Binder),
            (List::Binder, _) => E::Sort,
            (List::Match, 1) => E::Term,
            (List::Match, 2..) => E::List(List::Cases),
            (List::Cases, _) => E::List(List::Case),
            (List::Case, 0) => E::Pattern,
            (List::Case, _) => E::Term,
            (List::Pattern, 0) => E::Symbol(Role::Function),
            (List::Pattern, _) => E::Symbol(Role::Variable),
            // `(_ is C)`, and Z3's `(_ is (C (S …) T))`.
            (List::Indexed, 2..) => E::Head,
            (List::Signature, 0) => E::Symbol(Role::Function),
            (List::Signature, 1) => E::List(List::Sorts),
            (List::Signature, _) => E::Sort,
            (List::Qualified, 1) => E::Head,
            (List::Qualified, 2..) => E::Sort,
            (List::Annotated, 1) => E::Term,
            (List::Annotated, 2..) => E::Attribute,
            (List::Sorts, _) => E::Sort,
            (List::NewSorts, _) => E::List(List::NewSort),
            (List::NewSort, 0) => E::Symbol(Role::NewSort),
            (List::Signatures, _) => E::List(List::Rule),
            (List::Rule, 0) => E::Symbol(Role::NewFunction),
            (List::Rule, 1) => E::List(List::Binders),
            (List::Rule, _) => E::Sort,
            (List::Constructors, _) => E::Constructor,
            (List::OldDatatype, 0) => E::Symbol(Role::NewSort),
            (List::OldDatatype, _) => E::Constructor,
            (List::Parametric, 1) => E::List(List::Sorts),
            (List::Parametric, 2..) => E::List(List::Constructors),
            (List::Constructor, 0) => E::Symbol(Role::NewConstructor),
            (List::Constructor, _) => E::List(List::Selector),
            (List::Selector, 0) => E::Symbol(Role::NewSelector),
            (List::Selector, _) => E::Sort,
            (List::Datatypes, _) => E::Datatype,
            (List::OldDatatypes, _) => E::List(List::OldDatatype),
            (List::DeclareFun | List::DeclareConst, 1)
            | (List::DefineFun | List::DefineConst, 1) => E::Symbol(Role::NewFunction),
            (List::DeclareFun, 2) => E::List(List::Sorts),
            (List::DeclareFun, 3) | (List::DefineFun, 3) => E::Sort,
            (List::DeclareVar, 1) => E::Symbol(Role::Variable),
            (List::DeclareVar | List::DeclareConst | List::DefineConst, 2) => E::Sort,
            (List::DefineFun, 2) => E::List(List::Binders),
            (List::DefineFun, 4) | (List::DefineConst, 3) | (List::Assert, 1) => E::Term,
            (List::DeclareSort, 1) => E::Symbol(Role::NewSort),
            (List::DeclareSort, 2) => E::Datatype,
            (List::DeclareDatatypes, 1) => E::List(List::NewSorts),
            (List::DeclareDatatypes, 2) => E::List(List::Datatypes),
            (List::DeclareOldDatatypes, 1) => E::List(List::Sorts),
            (List::DeclareOldDatatypes, 2) => E::List(List::OldDatatypes),
            (List::DefineFunsRec, 1) => E::List(List::Signatures),
            (List::DefineFunsRec, 2) => E::List(List::Terms),
            (List::DefineSort, 1) => E::Symbol(Role::NewSort),
            (List::DefineSort, 2) => E::List(List::Sorts),
            (List::DefineSort, 3) => E::Sort,
            _ => E::Anything,
        }
    }

    /// The list of a command with this keyword.
    fn command(keyword: &str) -> List {
        match keyword {
            "assert" | "rule" | "query" => List::Assert,
            "declare-fun" | "declare-rel" => List::DeclareFun,
            "declare-var" => List::DeclareVar,
            "declare-const" => List::DeclareConst,
            "declare-datatype" | "declare-sort" => List::DeclareSort,
            "declare-datatypes" => List::DeclareDatatypes,
            "define-fun" | "define-fun-rec" => List::DefineFun,
            "define-const" => List::DefineConst,
            "define-funs-rec" => List::DefineFunsRec,
            "define-sort" => List::DefineSort,
            _ => List::Verbatim,
        }
    }
}

/// A list that has not ended.
struct Frame {
    list: List,
    /// The number of elements that have begun.
    elements: usize,
    /// Text that is inserted before the end of the list.
    before_end: String,
    /// After the first element, the rest up to the token at this index is left out.
    only_first: Option<usize>,
}

impl Frame {
    fn new(list: List) -> Self {
        Frame {
            list,
            elements: 0,
            before_end: String::new(),
            only_first: None,
        }
    }
}

struct Scan<'t, 's, S> {
    text: &'t str,
    tokens: Vec<Token>,
    /// By token, that which closes the list that it opens.
    closing: Vec<usize>,
    surgeon: &'s mut S,
    stack: Vec<Frame>,
    edits: Vec<(Range<usize>, String)>,
}

impl<'t, S: Surgeon<'t>> Scan<'t, '_, S> {
    fn run(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            at = self.token(at);
        }
    }

    /// Handles the token at an index, and returns the index of the next one.
    fn token(&mut self, at: usize) -> usize {
        let Some(top) = self.stack.last_mut() else {
            return self.tokens.len();
        };
        if let Some(end) = top.only_first
            && top.elements > 0
        {
            let rest = self.tokens[at - 1].range.end..self.tokens[end].range.end;
            self.edits.push((rest, String::new()));
            self.stack.pop();
            return end + 1;
        }
        if self.tokens[at].kind == TokenKind::Close {
            let place = self.tokens[at].range.start;
            if !top.before_end.is_empty() {
                let text = std::mem::take(&mut top.before_end);
                self.edits.push((place..place, text));
            }
            // A parenthesis too many is copied.
            if self.stack.len() > 1 {
                self.stack.pop();
            }
            return at + 1;
        }
        let expected = top.list.expected(top.elements);
        top.elements += 1;
        match self.tokens[at].kind {
            TokenKind::Open => self.open(at, expected),
            TokenKind::Atom => {
                self.atom(at, expected);
                at + 1
            }
            _ => at + 1,
        }
    }

    /// Handles an atom.
    fn atom(&mut self, at: usize, expected: Expected) {
        let role = match expected {
            Expected::Term | Expected::Body | Expected::Pattern => Role::Constant,
            Expected::Head => Role::Function,
            Expected::Symbol(role) => role,
            Expected::Sort => Role::Sort,
            Expected::Constructor => Role::NewConstructor,
            _ => return,
        };
        let range = self.tokens[at].range.clone();
        let atom = &self.text[range.clone()];
        if RESERVED.contains(&atom)
            || atom.starts_with(|c: char| ":#".contains(c) || c.is_ascii_digit())
        {
            return;
        }
        if let Some(new) = self.surgeon.symbol(role, symbol(atom)) {
            self.edits.push((range, new));
        }
    }

    /// Handles the beginning of a list, and returns the index of the next token.
    fn open(&mut self, at: usize, expected: Expected) -> usize {
        let word = self.atom_at(at + 1);
        let list = match expected {
            Expected::Command => match word {
                Some("declare-datatypes") if self.is_old(at + 2) => List::DeclareOldDatatypes,
                Some(keyword) => List::command(keyword),
                None => List::Verbatim,
            },
            Expected::Term | Expected::Body => match word {
                Some("!") => return self.annotated(at, expected == Expected::Body),
                Some("forall" | "exists") if self.is_empty_list(at + 2) => {
                    return self.only_first(at, 4, List::Terms);
                }
                Some("forall" | "exists") => List::Quantifier,
                Some("let") => List::Let,
                Some("match") => List::Match,
                Some("_") => List::Indexed,
                Some("as") => List::Qualified,
                _ => List::Application,
            },
            Expected::Head => match word {
                Some("_") if self.divisor(at).is_some() => return self.divisible(at),
                Some("_") => List::Indexed,
                Some("as") => List::Qualified,
                _ => List::Signature,
            },
            Expected::Sort => {
                if word.is_some() && self.closing[at] == at + 2 {
                    return self.only_first(at, 1, List::Sorts);
                }
                List::Sorts
            }
            Expected::Pattern => List::Pattern,
            Expected::Constructor => List::Constructor,
            Expected::Datatype if word == Some("par") => List::Parametric,
            Expected::Datatype => List::Constructors,
            Expected::List(list) => list,
            Expected::Attribute if self.atom_at(at - 1) == Some(":pattern") => List::Terms,
            Expected::Symbol(_) | Expected::Attribute | Expected::Anything => List::Verbatim,
        };
        self.stack.push(Frame::new(list));
        at + 1
    }

    /// The atom at an index.
    fn atom_at(&self, at: usize) -> Option<&'t str> {
        let token = self.tokens.get(at)?;
        (token.kind == TokenKind::Atom).then(|| &self.text[token.range.clone()])
    }

    fn is(&self, at: usize, kind: TokenKind) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == kind)
    }

    fn is_empty_list(&self, at: usize) -> bool {
        self.is(at, TokenKind::Open) && self.is(at + 1, TokenKind::Close)
    }

    /// Whether names of datatypes in the list at an index have no arities: parameters, in the older
    /// form of declarations.
    fn is_old(&self, at: usize) -> bool {
        self.is(at, TokenKind::Open) && !self.is(at + 1, TokenKind::Open)
    }

    /// The index after the expression at an index.
    fn after(&self, at: usize) -> usize {
        match self.is(at, TokenKind::Open) {
            true => self.closing[at] + 1,
            false => at + 1,
        }
    }

    fn remove(&mut self, range: Range<usize>) {
        self.edits.push((range, String::new()));
    }

    /// Leaves out the tokens from the list's beginning on, `skipped` of them, and what comes after
    /// the expression that follows. Returns its index.
    fn only_first(&mut self, at: usize, skipped: usize, list: List) -> usize {
        let (first, end) = (at + skipped, self.closing[at]);
        if first >= end || end >= self.tokens.len() {
            self.stack.push(Frame::new(List::Verbatim));
            return at + 1;
        }
        self.remove(self.tokens[at].range.start..self.tokens[first].range.start);
        self.stack.push(Frame {
            only_first: Some(end),
            ..Frame::new(list)
        });
        first
    }

    /// Handles the beginning of an annotation.
    fn annotated(&mut self, at: usize, is_body: bool) -> usize {
        let (end, mut next) = (self.closing[at].min(self.tokens.len()), self.after(at + 2));
        let term = at + 2..next;
        let mut has_pattern = false;
        let mut others = Vec::new();
        while next < end {
            let begin = next;
            let keyword = self.atom_at(begin).unwrap_or_default();
            next += 1;
            let value = self.atom_at(next).unwrap_or_default();
            if next < end && !value.starts_with(':') {
                next = self.after(next);
            }
            match keyword {
                ":pattern" => has_pattern = true,
                ":named" => {
                    let range = term.start..term.end - 1;
                    self.label(symbol(value), range);
                    others.push(begin..next);
                }
                _ => others.push(begin..next),
            }
        }
        if !is_body || !has_pattern {
            return self.only_first(at, 2, List::Terms);
        }
        for attribute in others {
            let before = self.tokens[attribute.start - 1].range.end;
            self.remove(before..self.tokens[attribute.end - 1].range.end);
        }
        self.stack.push(Frame::new(List::Annotated));
        at + 1
    }

    /// Reports the label of the term at a range of tokens, with the last one, if it is asserted.
    fn label(&mut self, label: &'t str, term: Range<usize>) {
        let outer = [List::Commands, List::Assert];
        if !self.stack.iter().map(|frame| frame.list).eq(outer) {
            return;
        }
        let begin = self.tokens[term.start].range.start;
        let end = self.tokens[term.end].range.end;
        self.surgeon.labelled(label, begin..end);
    }

    /// The divisor of the list `(_ divisible n)` at an index.
    fn divisor(&self, at: usize) -> Option<&'t str> {
        let is_divisible = self.atom_at(at + 2) == Some("divisible");
        let divisor = self.atom_at(at + 3).filter(|_| is_divisible)?;
        (self.closing[at] == at + 4).then_some(divisor)
    }

    /// Handles the head `(_ divisible n)` of an application.
    fn divisible(&mut self, at: usize) -> usize {
        let divisor = self.divisor(at).unwrap_or_default();
        let range = self.tokens[at - 1].range.start..self.tokens[at + 4].range.end;
        self.edits.push((range, "(= 0 (mod".to_owned()));
        if let Some(top) = self.stack.last_mut() {
            top.before_end = format!(" {divisor})");
        }
        at + 5
    }
}
