//! S-expressions in lines that a person can read.
//!
//! Invariant: only spaces and line breaks change, and the depth of nesting costs no stack.

/// The width of a line.
const WIDTH: usize = 96;

/// The first element of a text: a symbol, with its bars if it has some, or a list.
pub fn first(text: &str) -> &str {
    let end = elements(text).next().map_or(0, |e| e.1);
    &text[..end]
}

/// The text with line breaks: what fits into a line stands in one, of what does not each element
/// stands in a line of its own. What comes after `limit` bytes is left out.
pub fn indented(text: &str, limit: usize) -> String {
    if text.len() > limit {
        let end = (0..=limit).rev().find(|&at| text.is_char_boundary(at));
        return format!("{} …", &text[..end.unwrap_or(0)]);
    }
    let mut out = String::new();
    // What is still to be written, the last one first: a text with its depth, or a closing one.
    let mut open: Vec<(&str, usize, bool)> = vec![(text, 0, true)];
    while let Some((text, depth, breaks)) = open.pop() {
        if breaks && !out.is_empty() {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', 2 * depth));
        }
        let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
        let (Some(inner), true) = (inner, text.len() + 2 * depth > WIDTH) else {
            out.push_str(text);
            continue;
        };
        // The operator stays with the parenthesis, and of some what belongs to it.
        let parts: Vec<&str> = elements(inner).map(|(a, b)| &inner[a..b]).collect();
        let beside = match parts.first() {
            Some(&"define-fun" | &"define-fun-rec") => 4,
            Some(&"let" | &"ite") => 2,
            Some(head) if !head.starts_with('(') => 1,
            _ => 0,
        };
        let (first, rest) = parts.split_at(beside.min(parts.len()));
        out.push('(');
        out.push_str(&first.join(" "));
        open.push((")", depth, false));
        open.extend(rest.iter().rev().map(|part| (*part, depth + 1, true)));
    }
    out
}

/// Where the elements of a list begin and end.
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
