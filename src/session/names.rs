//! Names of assertions: `(assert (! φ :named n))`.
//!
//! Invariant: names are found by tokens only, and copied as they are written.

use std::ops::Range;

use alphorn_witness::sexp::{TokenKind, Tokens, elements};

/// The name of the formula of a command, if the whole formula has one.
pub(super) fn name_of(text: &str, command: &Range<usize>) -> Option<String> {
    if !text[command.clone()].contains(":named") {
        return None;
    }
    let mut formula = elements(text, command)?.get(1)?.clone();
    loop {
        let parts = elements(text, &formula)?;
        let word = |at: usize| parts.get(at).map(|part| &text[part.clone()]);
        if word(0) != Some("!") {
            return None;
        }
        let attribute = (2..parts.len()).find(|&at| word(at) == Some(":named"));
        match attribute.and_then(|at| word(at + 1)) {
            Some(name) => return Some(name.to_owned()),
            None => formula = parts.get(1)?.clone(),
        }
    }
}

/// How many names the formula of a command has, with those of its parts.
pub(super) fn count(text: &str, command: &Range<usize>) -> usize {
    if !text[command.clone()].contains(":named") {
        return 0;
    }
    let tokens = Tokens::new(&text[..command.end], command.start);
    let named = tokens
        .filter(|token| token.kind == TokenKind::Atom && &text[token.range.clone()] == ":named");
    named.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_whole_formulas() {
        for (text, name, all) in [
            ("(assert (! p :named a))", Some("a"), 1),
            (
                "(assert (! (! p :weight 1) :pattern ((f x)) :named |a b|))",
                Some("|a b|"),
                1,
            ),
            ("(assert (! (! p :named a) :weight 1))", Some("a"), 1),
            ("(assert (=> (! p :named a) (! q :named b)))", None, 2),
            ("(assert |:named|)", None, 0),
            ("(assert p)", None, 0),
            ("(assert (! p :named))", None, 1),
        ] {
            let range = 0..text.len();
            assert_eq!(name_of(text, &range).as_deref(), name, "{text}");
            assert_eq!(count(text, &range), all, "{text}");
        }
    }
}
