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

mod grammar;

use std::ops::Range;

use super::names::RESERVED;
use crate::sexp::{Token, TokenKind, Tokens, symbol};
use grammar::{Expected, List};

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

    /// A formula that has to hold for the values of a quantified variable, given by its name and
    /// sort as written; `None` if there is none. `is_outer`: the quantifier is universal, or negated
    /// and existential, and nothing is around it but such.
    fn guard(&mut self, _variable: &'t str, _sort: &'t str, _is_outer: bool) -> Option<String> {
        None
    }

    /// Whether `(as symbol S)` is the symbol alone.
    fn is_constant(&self, _symbol: &str) -> bool {
        false
    }

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

/// A list that has not ended.
struct Frame {
    list: List,
    /// The number of elements that have begun.
    elements: usize,
    /// Text that is inserted before the end of the list.
    before_end: String,
    /// Whether it is a negation.
    is_not: bool,
    /// After the first element, the rest up to the token at this index is left out.
    only_first: Option<usize>,
}

impl Frame {
    fn new(list: List) -> Self {
        Frame {
            list,
            elements: 0,
            before_end: String::new(),
            is_not: false,
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
                Some("declare-heap") if self.count(at) == 7 => List::DeclareOldHeap,
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
                Some("as") if self.is_constant(at + 2) => {
                    return self.only_first(at, 2, List::Terms);
                }
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
            Expected::List(List::Binders) => {
                self.guards(at);
                List::Binders
            }
            Expected::List(list) => list,
            Expected::Attribute if self.atom_at(at - 1) == Some(":pattern") => List::Terms,
            Expected::Symbol(_) | Expected::Attribute | Expected::Anything => List::Verbatim,
        };
        self.stack.push(Frame {
            is_not: list == List::Application && word == Some("not"),
            ..Frame::new(list)
        });
        at + 1
    }

    /// Whether a quantifier with this word, the innermost list, is an outer one.
    fn is_outer(&self, word: &str) -> bool {
        let around = &self.stack[..self.stack.len() - 1];
        let negations = around.iter().filter(|frame| frame.is_not).count();
        let outer = [
            List::Commands,
            List::Assert,
            List::Terms,
            List::Quantifier,
            List::Guarded,
        ];
        let is_plain = |frame: &Frame| frame.is_not || outer.contains(&frame.list);
        word == ["forall", "exists"][negations % 2] && around.iter().all(is_plain)
    }

    /// Puts the guards of variables behind the binders at an index, if they are a quantifier's.
    fn guards(&mut self, at: usize) {
        let quantifier = self.stack.last().map(|frame| frame.list);
        if quantifier != Some(List::Quantifier) {
            return;
        }
        let word = &self.text[self.tokens[at - 1].range.clone()];
        let is_outer = self.is_outer(word);
        let mut guards: Vec<String> = Vec::new();
        let (mut next, end) = (at + 1, self.closing[at].min(self.tokens.len()));
        while next < end {
            let after = self.after(next);
            if let Some(name) = self.atom_at(next + 1)
                && next + 3 < after
            {
                let sort = self.tokens[next + 2].range.start..self.tokens[after - 2].range.end;
                guards.extend(self.surgeon.guard(name, &self.text[sort], is_outer));
            }
            next = after;
        }
        let (Some(top), Some(last)) = (self.stack.last_mut(), self.tokens.get(end)) else {
            return;
        };
        if guards.is_empty() {
            return;
        }
        let guard = match guards.as_slice() {
            [only] => only.clone(),
            _ => format!("(and {})", guards.join(" ")),
        };
        top.list = List::Guarded;
        top.before_end = ")".to_owned();
        let connective = if word == "forall" { "=>" } else { "and" };
        let place = last.range.end;
        let text = format!(" ({connective} {guard}");
        self.edits.push((place..place, text));
    }

    /// Whether the atom at an index is a constant without need of its sort.
    fn is_constant(&self, at: usize) -> bool {
        let name = self.atom_at(at).map(symbol);
        name.is_some_and(|name| self.surgeon.is_constant(name))
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

    /// The number of elements of the list at an index.
    fn count(&self, at: usize) -> usize {
        let (mut next, mut count) = (at + 1, 0);
        while next < self.closing[at].min(self.tokens.len()) {
            next = self.after(next);
            count += 1;
        }
        count
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

    /// Reports the label of the term at a range of tokens, with the last one, if it stands in an
    /// assertion below no binder, where the label is a name of the term.
    fn label(&mut self, label: &'t str, term: Range<usize>) {
        let mut lists = self.stack.iter().map(|frame| frame.list);
        let is_asserted =
            lists.next() == Some(List::Commands) && lists.next() == Some(List::Assert);
        let is_free = |list| matches!(list, List::Terms | List::Application | List::Annotated);
        if !is_asserted || !lists.all(is_free) {
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
