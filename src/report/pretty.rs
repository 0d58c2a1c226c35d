//! S-expressions with line breaks and indentation.
//!
//! Invariant: only white space changes, except that a text above the limit is cut off; traversals are
//! iterative.

/// The width of a line, in bytes.
const WIDTH: usize = 96;

/// The first element of a text: a list, or a symbol, with its bars if it is quoted.
pub fn first(text: &str) -> &str {
    let end = elements(text).next().map_or(0, |e| e.1);
    &text[..end]
}

/// A part of a text that is to be written.
struct Piece<'a> {
    text: &'a str,
    /// The number of lists around it.
    depth: usize,
    /// Whether it starts a line.
    starts_line: bool,
}

/// The text with line breaks: a list that fits on a line is on one line, and of any other list each
/// element starts a line. Only the first `limit` bytes of a longer text are shown, without line breaks.
pub fn indented(text: &str, limit: usize) -> String {
    if text.len() > limit {
        let end = (0..=limit).rev().find(|&at| text.is_char_boundary(at));
        return format!("{} …", &text[..end.unwrap_or(0)]);
    }
    let mut out = String::new();
    // The pieces to be written, the last one first.
    let mut open = vec![Piece {
        text,
        depth: 0,
        starts_line: true,
    }];
    while let Some(Piece {
        text,
        depth,
        starts_line,
    }) = open.pop()
    {
        if starts_line && !out.is_empty() {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', 2 * depth));
        }
        let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
        let (Some(inner), true) = (inner, text.len() + 2 * depth > WIDTH) else {
            out.push_str(text);
            continue;
        };
        // The elements that stay on the line of the parenthesis: the operator, and for some operators
        // the next ones.
        let parts: Vec<&str> = elements(inner).map(|(a, b)| &inner[a..b]).collect();
        let on_first_line = match parts.first() {
            Some(&"define-fun" | &"define-fun-rec") => 4,
            Some(&"let" | &"ite") => 2,
            Some(head) if !head.starts_with('(') => 1,
            _ => 0,
        };
        let (first, rest) = parts.split_at(on_first_line.min(parts.len()));
        out.push('(');
        out.push_str(&first.join(" "));
        open.push(Piece {
            text: ")",
            depth,
            starts_line: false,
        });
        open.extend(rest.iter().rev().map(|part| Piece {
            text: part,
            depth: depth + 1,
            starts_line: true,
        }));
    }
    out
}

/// The offsets at which the elements of a list begin and end.
fn elements(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && bytes[at].is_ascii_whitespace() {
            at += 1;
        }
        let start = at;
        let mut depth = 0usize;
        let mut quoted = None;
        while at < bytes.len() {
            let byte = bytes[at];
            match (quoted, byte) {
                (Some(quote), byte) if byte == quote => quoted = None,
                (Some(_), _) => {}
                (None, b'|' | b'"') => quoted = Some(byte),
                (None, b'(') => depth += 1,
                (None, b')') => depth = depth.saturating_sub(1),
                (None, byte) if depth == 0 && byte.is_ascii_whitespace() => break,
                _ => {}
            }
            at += 1;
        }
        (start < at).then_some((start, at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_stay() {
        let text = "(define-fun |a b| ((x!0 Int)) Bool (>= x!0 0))";
        assert_eq!(indented(text, 1000), text);
        assert_eq!(first("|a b| ((x!0 Int)) Bool"), "|a b|");
        assert_eq!(first("((a b) c) d"), "((a b) c)");
    }

    #[test]
    fn long_texts_are_broken_where_they_must() {
        let long = format!(
            "(and (> x 0) (or {} |a ) b|))",
            "(= y (+ x 1)) ".repeat(9).trim()
        );
        let lines = indented(&long, 1000);
        assert!(
            lines.starts_with("(and\n  (> x 0)\n  (or\n    (= y (+ x 1))\n"),
            "{lines}"
        );
        assert!(lines.ends_with("\n    |a ) b|))"), "{lines}");
        let words = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(words(&lines), words(&long));
    }

    #[test]
    fn depth_costs_no_stack_and_length_is_bounded() {
        let deep = format!("{}x{}", "(not ".repeat(100_000), ")".repeat(100_000));
        assert!(indented(&deep, 2_000).ends_with('…'));
        let deep = format!("{}x{}", "(not ".repeat(300), ")".repeat(300));
        assert_eq!(indented(&deep, 10_000).matches("(not").count(), 300);
    }
}
