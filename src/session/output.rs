//! Alphorn's output for a script, divided into its answers.
//!
//! Invariant: verdicts, witnesses and other replies each begin a line, so no name or value inside of
//! a witness is taken for one of them.

use std::ops::Range;

use alphorn_witness::sexp::{Token, TokenKind, Tokens, elements, expression};

/// The text of each answer: its verdict, and its witness if there is one. `of_rules` says for each
/// question whether it is a `query`, whose verdict `unsat` has a model.
pub fn answers(output: &str, of_rules: &[bool]) -> Vec<String> {
    let lines = line_beginnings(output);
    let mut answers: Vec<String> = Vec::new();
    for (number, token) in lines.iter().enumerate() {
        let word = &output[token.range.clone()];
        if matches!(word, "sat" | "unsat" | "unknown") {
            answers.push(format!("{word}\n"));
            continue;
        }
        let count = answers.len();
        let Some(answer) = answers.last_mut() else {
            continue;
        };
        // Only the first witness counts: a request may print it again.
        if answer.trim_end().contains('\n') {
            continue;
        }
        let has_model = (answer == "sat\n") != of_rules.get(count - 1).copied().unwrap_or(false);
        let is_witness = match token.kind {
            TokenKind::Open => {
                is_model(output, token.range.start, has_model)
                    || !has_model && is_refutation(output, token.range.start)
            }
            _ => word.starts_with(|c: char| c.is_ascii_digit() || c == '{'),
        };
        if !is_witness {
            continue;
        }
        // Definitions may stand one by one, and steps each on a line.
        let same = |next: &&Token| match token.kind {
            TokenKind::Open => is_definition(output, next.range.start),
            _ => output[next.range.clone()].starts_with(|c: char| c.is_ascii_digit()),
        };
        let next = lines[number + 1..].iter().find(|next| !same(next));
        let end = next.map_or(output.len(), |next| next.range.start);
        answer.push_str(&output[token.range.start..end]);
    }
    answers
}

/// The tokens that begin a line, outside of parentheses.
fn line_beginnings(output: &str) -> Vec<Token> {
    let (mut depth, mut end) = (0usize, None);
    let mut found = Vec::new();
    for token in Tokens::new(output, 0) {
        let begins = end.is_none_or(|end| output[end..token.range.start].contains('\n'));
        end = Some(token.range.end);
        let outside = depth == 0;
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if begins && outside {
            found.push(token);
        }
    }
    found
}

/// The elements of the list at this place.
fn list(output: &str, start: usize) -> Option<Vec<Range<usize>>> {
    elements(output, &expression(output, start)?)
}

/// Whether the list at this place is a definition.
fn is_definition(output: &str, start: usize) -> bool {
    let first = list(output, start).and_then(|list| list.into_iter().next());
    first.is_some_and(|first| output[first].starts_with("define-fun"))
}

/// Whether the list at this place is a model; an empty one is, where a model is expected.
fn is_model(output: &str, start: usize, expected: bool) -> bool {
    let Some(list) = list(output, start) else {
        return false;
    };
    match list.first() {
        None => expected,
        Some(first) => {
            let word = &output[first.clone()];
            word == "model" || word.starts_with("define-fun") || is_definition(output, first.start)
        }
    }
}

/// Whether the list at this place is a refutation as an S-expression.
fn is_refutation(output: &str, start: usize) -> bool {
    let first = list(output, start).and_then(|list| list.into_iter().next());
    first.is_some_and(|first| output[first] == *"refutation")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_a_session() {
        let output = "\"sat\"\nsuccess\nsat\n(error \"there is no proof\")\n(\n  (define-fun sat () \
            Bool true)\n)\n; measure f (0)\n(:name \"alphorn\")\nunsat\n(a b)\n1: P(0, (- 1)) by \
            clause 1 [x = |\nsat\n|]\n2: false by clause 2 from 1\n\"sat\"\nunsupported\nunknown\n\
            (:reason-unknown \"sat\")\nunsat\n{\"refutation\": [{\"step\": 1}]}\n(b)\nsat\n()\n\
            unsat\n()\nunsat\n()\n";
        let rules = [false, false, false, false, false, false, true];
        assert_eq!(
            answers(output, &rules),
            [
                "sat\n(\n  (define-fun sat () Bool true)\n)\n; measure f (0)\n",
                "unsat\n1: P(0, (- 1)) by clause 1 [x = |\nsat\n|]\n2: false by clause 2 from 1\n",
                "unknown\n",
                "unsat\n{\"refutation\": [{\"step\": 1}]}\n",
                "sat\n()\n",
                "unsat\n",
                "unsat\n()\n",
            ]
        );
        let apart =
            "sat\n(define-fun p () Bool true)\n(define-fun q () Bool false)\n(:name \"x\")\n";
        assert_eq!(
            answers(apart, &[false]),
            ["sat\n(define-fun p () Bool true)\n(define-fun q () Bool false)\n"]
        );
        assert_eq!(answers("(define-fun p () Bool true)", &[false]), [""; 0]);
    }
}
