//! Texts with a check.

/// The text; a `check-sat` is appended if it has no check.
pub fn asked(text: &str) -> String {
    let asks = ["(check-sat", "(query", "(rule"];
    match asks.iter().any(|command| text.contains(command)) {
        true => text.to_owned(),
        false => format!("{text}\n(check-sat)"),
    }
}
