//! Parts of witnesses in the comments behind them: lines `; keyword …`.
//!
//! Invariant: positions are byte offsets in the whole text.

use std::ops::Range;

/// An error: the byte offset of its place, and the reason.
pub type Failure = (usize, String);

/// The error at a place.
pub fn failure<T>(place: usize, message: impl Into<String>) -> Result<T, Failure> {
    Err((place, message.into()))
}

/// The comment lines from `start` on that begin with one of the keywords, each with its keyword and
/// the range of what follows it.
pub fn parts<'a, const N: usize>(
    text: &'a str,
    start: usize,
    keywords: [&'static str; N],
) -> impl Iterator<Item = (&'static str, Range<usize>)> + 'a {
    let mut position = start;
    let lines = text[start..].split_inclusive('\n').map(move |line| {
        let begin = position;
        position += line.len();
        (begin, line.trim_end_matches(['\n', '\r']))
    });
    lines.filter_map(move |(begin, line)| {
        let comment = line.trim_start().strip_prefix(';')?.trim_start();
        let keyword = keywords.into_iter().find(|keyword| {
            let rest = comment.strip_prefix(keyword);
            rest.is_some_and(|rest| rest.starts_with([' ', '\t']))
        })?;
        let end = begin + line.len();
        let after = end - comment.len() + keyword.len();
        Some((keyword, after..end))
    })
}
