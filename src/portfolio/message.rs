//! What a member says to the process that started it: lines of JSON through a pipe.
//!
//! A member says of what family its clauses are, then perhaps an answer that may get better, then
//! its verdict, then all that is to be printed. Until the verdict it may say what others may want to
//! know, and its parent says that to them in the same form.
//! The verdict has a line of its own, so that it is known even of a member that is ended while it
//! hands over a long witness. Invariant: what is written here is read here, and a line that is
//! anything else is no message.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::schedule::Family;

/// The words that a verdict may be.
const WORDS: [&str; 3] = ["sat", "unsat", "unknown"];

/// A line.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    Began(Began),
    /// What to say if the member comes to no end: an answer for which it looks for a better model.
    Held(End),
    /// Lemmas for the other members, as `proof::exchange` writes them.
    Lemmas(String),
    /// `sat`, `unsat` or `unknown`.
    Verdict(&'static str),
    End(End),
}

/// What is known when the text has been read.
#[derive(Clone, PartialEq, Debug)]
pub struct Began {
    pub family: Family,
    /// The limit that the text itself sets.
    pub timeout: Option<Duration>,
    /// Whether the text asks for the reason of an `unknown`.
    pub reason_unknown: bool,
}

/// The end of a member's run.
#[derive(Clone, PartialEq, Debug)]
pub struct End {
    pub answer: Answer,
    /// Why there is no verdict.
    pub note: Option<String>,
    /// Counts and times by name.
    pub stats: Option<Map<String, Value>>,
    /// The certificate, if one is wanted and there is one.
    pub certificate: Option<String>,
}

/// What goes to standard output.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// The verdict, and the lines after it.
    Verdict(&'static str, String),
    /// What is wrong with the input.
    Error(String),
}

impl Message {
    /// The message as a line, with its end.
    pub fn line(&self) -> String {
        let value = match self {
            Message::Began(began) => json!({"began": {
                "family": began.family.name(),
                "timeout_ms": began.timeout.map(|t| u64::try_from(t.as_millis()).unwrap_or(u64::MAX)),
                "reason_unknown": began.reason_unknown,
            }}),
            Message::Verdict(word) => json!({"verdict": word}),
            Message::Held(end) => json!({"held": end.value()}),
            Message::Lemmas(text) => json!({"lemmas": text}),
            Message::End(end) => json!({"end": end.value()}),
        };
        format!("{value}\n")
    }

    /// The message on a line; `None` for anything else.
    pub fn read(line: &[u8]) -> Option<Message> {
        let value: Value = serde_json::from_slice(line).ok()?;
        let object = value.as_object().filter(|object| object.len() == 1)?;
        let (kind, body) = object.iter().next()?;
        match kind.as_str() {
            "began" => Some(Message::Began(Began {
                family: Family::named(body["family"].as_str()?)?,
                timeout: match &body["timeout_ms"] {
                    Value::Null => None,
                    limit => Some(Duration::from_millis(limit.as_u64()?)),
                },
                reason_unknown: body["reason_unknown"].as_bool()?,
            })),
            "verdict" => Some(Message::Verdict(word(body.as_str()?)?)),
            "held" => Some(Message::Held(End::read(body)?)),
            "lemmas" => Some(Message::Lemmas(body.as_str()?.to_owned())),
            "end" => Some(Message::End(End::read(body)?)),
            _ => None,
        }
    }
}

impl End {
    fn value(&self) -> Value {
        let (word, text) = match &self.answer {
            Answer::Verdict(word, details) => (*word, details),
            Answer::Error(message) => ("error", message),
        };
        json!({"answer": word, "text": text, "note": self.note, "stats": self.stats,
               "certificate": self.certificate})
    }

    fn read(body: &Value) -> Option<End> {
        let text = body["text"].as_str()?.to_owned();
        Some(End {
            answer: match body["answer"].as_str()? {
                "error" => Answer::Error(text),
                verdict => Answer::Verdict(word(verdict)?, text),
            },
            note: body["note"].as_str().map(str::to_owned),
            stats: body["stats"].as_object().cloned(),
            certificate: body["certificate"].as_str().map(str::to_owned),
        })
    }
}

fn word(text: &str) -> Option<&'static str> {
    WORDS.into_iter().find(|word| *word == text)
}

/// A member's end of the pipe.
#[derive(Clone)]
pub struct Teller(Arc<Mutex<File>>);

impl Teller {
    pub fn new(pipe: File) -> Teller {
        Teller(Arc::new(Mutex::new(pipe)))
    }

    /// Says something. A listener that is gone is about to end this process.
    pub fn say(&self, message: &Message) {
        let mut pipe = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = pipe.write_all(message.line().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut stats = Map::new();
        stats.insert("pdr.lemmas".to_owned(), 7.into());
        stats.insert("pdr.seconds".to_owned(), 0.5.into());
        let messages = [
            Message::Began(Began {
                family: Family::ALL[0],
                timeout: Some(Duration::from_millis(1500)),
                reason_unknown: true,
            }),
            Message::Began(Began {
                family: Family::ALL[1],
                timeout: None,
                reason_unknown: false,
            }),
            Message::Held(End {
                answer: Answer::Verdict("sat", "()\n".to_owned()),
                note: None,
                stats: None,
                certificate: None,
            }),
            Message::Lemmas("(assert true)\n".to_owned()),
            Message::Verdict("unsat"),
            Message::End(End {
                answer: Answer::Verdict("sat", "(\n  \"quoted\" \u{1F4EF}\n)\n".to_owned()),
                note: None,
                stats: Some(stats),
                certificate: Some("; a certificate\n(check-sat)\n".to_owned()),
            }),
            Message::End(End {
                answer: Answer::Verdict("unknown", String::new()),
                note: Some("timeout".to_owned()),
                stats: None,
                certificate: None,
            }),
            Message::End(End {
                answer: Answer::Error("line 1 column 2: no".to_owned()),
                note: None,
                stats: None,
                certificate: None,
            }),
        ];
        for message in messages {
            let line = message.line();
            let body = line.strip_suffix('\n').expect("a whole line");
            assert!(!body.contains('\n'), "{line}");
            assert_eq!(Message::read(body.as_bytes()), Some(message));
        }
    }

    #[test]
    fn rubbish_is_no_message() {
        for rubbish in [
            "",
            "sat",
            "{}",
            "[]",
            "null",
            "{\"verdict\":\"perhaps\"}",
            "{\"verdict\":3}",
            "{\"verdict\":\"sat\",\"end\":{}}",
            "{\"end\":{\"answer\":\"sat\"}}",
            "{\"end\":{\"answer\":\"fine\",\"text\":\"\"}}",
            "{\"began\":{\"family\":\"none such\",\"reason_unknown\":false}}",
            "{\"began\":7}",
            "\u{fffd}",
        ] {
            assert_eq!(Message::read(rubbish.as_bytes()), None, "{rubbish}");
        }
        assert_eq!(Message::read(b"\xff\xfe"), None);
    }
}
