//! Texts that ask something.

/// The text, with a check after it if it asks nothing.
pub fn asked(text: &str) -> String {
    let asks = ["(check-sat", "(query", "(rule"];
    match asks.iter().any(|command| text.contains(command)) {
        true => text.to_owned(),
        false => format!("{text}\n(check-sat)"),
    }
}
