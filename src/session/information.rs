//! What a session knows without an answer: options, and facts about the program.
//!
//! Invariant: the value of an option is the last one that the script has set, or its default.

use super::Action;

/// Options of SMT-LIB with their defaults.
const DEFAULTS: [(&str, &str); 14] = [
    (":diagnostic-output-channel", "\"stderr\""),
    (":global-declarations", "false"),
    (":interactive-mode", "false"),
    (":print-success", "false"),
    (":produce-assertions", "true"),
    (":produce-assignments", "true"),
    (":produce-models", "true"),
    (":produce-proofs", "true"),
    (":produce-unsat-assumptions", "false"),
    (":produce-unsat-cores", "true"),
    (":random-seed", "0"),
    (":regular-output-channel", "\"stdout\""),
    (":reproducible-resource-limit", "0"),
    (":verbosity", "0"),
];

/// The options that a script has set.
#[derive(Default)]
pub(super) struct Options(Vec<(String, String)>);

impl Options {
    /// Sets an option.
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// The value of an option; `unsupported` if it has none.
    pub fn get(&self, name: &str) -> String {
        let set = self.0.iter().find(|(known, _)| known == name);
        let set = set.map(|(_, value)| value.as_str());
        let default = DEFAULTS.iter().find(|(known, _)| *known == name);
        let value = set.or(default.map(|(_, value)| *value));
        value.unwrap_or("unsupported").to_owned()
    }
}

/// The answer to `get-info` about something else than an answer.
pub(super) fn information(keyword: &str, levels: usize, interactive: bool) -> Action {
    let text = match keyword {
        ":name" => "(:name \"alphorn\")".to_owned(),
        ":version" => format!("(:version \"{}\")", env!("CARGO_PKG_VERSION")),
        ":authors" => "(:authors \"the authors of alphorn\")".to_owned(),
        ":assertion-stack-levels" => format!("(:assertion-stack-levels {levels})"),
        ":error-behavior" if interactive => "(:error-behavior continued-execution)".to_owned(),
        ":error-behavior" => "(:error-behavior immediate-exit)".to_owned(),
        _ => "unsupported".to_owned(),
    };
    Action::Print(text)
}
