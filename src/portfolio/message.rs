//! The messages between a member and its parent: lines of JSON through a pipe.
//!
//! A member sends first what it found when it read the text, then perhaps a provisional answer, then
//! its verdict, then its result. Until the verdict it may send lemmas, and the parent forwards the
//! lemmas of other members to it as messages of the same form. The verdict has a line of its own, so
//! that the parent knows it even if the member is killed while it writes a long witness.
//!
//! Invariant: [`Message::read`] returns the message that [`Message::line`] wrote, and nothing for any
//! line that is not JSON of this form.

use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use alphorn::reply::UnknownReplies;
use serde_json::{Map, Value, json};

use alphorn::chc::Family;

/// The verdicts.
const VERDICTS: [&str; 3] = ["sat", "unsat", "unknown"];

/// A message.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// The member has read the text.
    TextRead(TextRead),
    /// The member's result if it ends without another one. It has an answer, and looks for a better
    /// model.
    Provisional(MemberResult),
    /// Lemmas for the other members, as `proof::exchange` writes them.
    Lemmas(String),
    /// `sat`, `unsat` or `unknown`.
    Verdict(&'static str),
    /// The last message of a member.
    Result(MemberResult),
}

/// What is known when a member has read the text.
#[derive(Clone, PartialEq, Debug)]
pub struct TextRead {
    /// The family of the clauses, which decides on the further members.
    pub family: Family,
    /// The time limit that the text itself sets.
    pub timeout: Option<Duration>,
    /// What is printed around the verdict `unknown`.
    pub unknown: UnknownReplies,
}

/// The result of a member's run.
#[derive(Clone, PartialEq, Debug)]
pub struct MemberResult {
    /// The text for standard output.
    pub answer: MemberAnswer,
    /// Why the verdict is `unknown`.
    pub note: Option<String>,
    /// The statistics: counts and times by name.
    pub stats: Option<Map<String, Value>>,
    /// What the member knows of the problem and the witness.
    pub found: Option<Value>,
    /// The certificate, if one is wanted and exists.
    pub certificate: Option<String>,
}

/// A member's text for standard output.
#[derive(Clone, PartialEq, Debug)]
pub enum MemberAnswer {
    /// The verdict, and the lines before and after it.
    Verdict(&'static str, [String; 2]),
    /// What is wrong with the input.
    Error(String),
}

impl Message {
    /// The message as a line, with its line break.
    pub fn line(&self) -> String {
        let value = match self {
            Message::TextRead(found) => json!({"text_read": {
                "family": found.family.name(),
                "timeout_ms": found.timeout.map(|t| u64::try_from(t.as_millis()).unwrap_or(u64::MAX)),
                "before": found.unknown.before,
                "after": found.unknown.after,
            }}),
            Message::Verdict(verdict) => json!({"verdict": verdict}),
            Message::Provisional(result) => json!({"provisional": result.to_json()}),
            Message::Lemmas(text) => json!({"lemmas": text}),
            Message::Result(result) => json!({"result": result.to_json()}),
        };
        format!("{value}\n")
    }

    /// The message on a line; `None` if the line is not a message.
    pub fn read(line: &[u8]) -> Option<Message> {
        let value: Value = serde_json::from_slice(line).ok()?;
        let object = value.as_object().filter(|object| object.len() == 1)?;
        let (kind, body) = object.iter().next()?;
        match kind.as_str() {
            "text_read" => Some(Message::TextRead(TextRead {
                family: Family::named(body["family"].as_str()?)?,
                timeout: match &body["timeout_ms"] {
                    Value::Null => None,
                    limit => Some(Duration::from_millis(limit.as_u64()?)),
                },
                unknown: unknown_replies(body)?,
            })),
            "verdict" => Some(Message::Verdict(verdict(body.as_str()?)?)),
            "provisional" => Some(Message::Provisional(MemberResult::from_json(body)?)),
            "lemmas" => Some(Message::Lemmas(body.as_str()?.to_owned())),
            "result" => Some(Message::Result(MemberResult::from_json(body)?)),
            _ => None,
        }
    }
}

impl MemberResult {
    /// A result with this answer and nothing else.
    pub fn of(answer: MemberAnswer) -> MemberResult {
        MemberResult {
            answer,
            note: None,
            stats: None,
            found: None,
            certificate: None,
        }
    }

    /// The verdict; `None` for an error.
    pub fn verdict(&self) -> Option<&'static str> {
        match &self.answer {
            MemberAnswer::Verdict(verdict, _) => Some(*verdict),
            MemberAnswer::Error(_) => None,
        }
    }

    fn to_json(&self) -> Value {
        let (answer, before, text) = match &self.answer {
            MemberAnswer::Verdict(verdict, [before, details]) => {
                (*verdict, before.as_str(), details)
            }
            MemberAnswer::Error(message) => ("error", "", message),
        };
        json!({"answer": answer, "before": before, "text": text, "note": self.note, "stats": self.stats,
               "found": self.found, "certificate": self.certificate})
    }

    fn from_json(body: &Value) -> Option<MemberResult> {
        let text = body["text"].as_str()?.to_owned();
        let before = body["before"].as_str().unwrap_or_default().to_owned();
        Some(MemberResult {
            answer: match body["answer"].as_str()? {
                "error" => MemberAnswer::Error(text),
                answer => MemberAnswer::Verdict(verdict(answer)?, [before, text]),
            },
            note: body["note"].as_str().map(str::to_owned),
            stats: body["stats"].as_object().cloned(),
            found: Some(body["found"].clone()).filter(|found| !found.is_null()),
            certificate: body["certificate"].as_str().map(str::to_owned),
        })
    }
}

fn unknown_replies(body: &Value) -> Option<UnknownReplies> {
    let reply = |reply: &Value| match reply {
        Value::Null => Some(None),
        text => Some(Some(text.as_str()?.to_owned())),
    };
    let after = body["after"].as_array()?.iter().map(reply);
    Some(UnknownReplies {
        before: body["before"].as_str()?.to_owned(),
        after: after.collect::<Option<_>>()?,
    })
}

fn verdict(text: &str) -> Option<&'static str> {
    VERDICTS.into_iter().find(|verdict| *verdict == text)
}

/// The end of the pipe through which a member sends messages.
#[derive(Clone)]
pub struct MessageWriter(Arc<Mutex<File>>);

impl MessageWriter {
    /// A writer to this pipe.
    pub fn new(pipe: File) -> MessageWriter {
        MessageWriter(Arc::new(Mutex::new(pipe)))
    }

    /// Sends a message. A failure is ignored: it means that the parent has ended, and that ends this
    /// process, too.
    pub fn send(&self, message: &Message) {
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
        let verdict = |verdict, text: &str| {
            MemberAnswer::Verdict(verdict, ["\"first\"\n".to_owned(), text.to_owned()])
        };
        let messages = [
            Message::TextRead(TextRead {
                family: Family::ALL[0],
                timeout: Some(Duration::from_millis(1500)),
                unknown: UnknownReplies {
                    before: "\"one\"\n".to_owned(),
                    after: vec![None, Some("two\n".to_owned())],
                },
            }),
            Message::TextRead(TextRead {
                family: Family::ALL[1],
                timeout: None,
                unknown: UnknownReplies::default(),
            }),
            Message::Provisional(MemberResult::of(verdict("sat", "()\n"))),
            Message::Lemmas("(assert true)\n".to_owned()),
            Message::Verdict("unsat"),
            Message::Result(MemberResult {
                answer: verdict("sat", "(\n  \"quoted\" \u{1F4EF}\n)\n"),
                note: None,
                stats: Some(stats),
                found: Some(json!({"safe": true, "witness": null})),
                certificate: Some("; a certificate\n(check-sat)\n".to_owned()),
            }),
            Message::Result(MemberResult {
                note: Some("timeout".to_owned()),
                ..MemberResult::of(verdict("unknown", ""))
            }),
            Message::Result(MemberResult::of(MemberAnswer::Error(
                "line 1 column 2: no".to_owned(),
            ))),
        ];
        for message in messages {
            let line = message.line();
            let body = line.strip_suffix('\n').expect("a whole line");
            assert!(!body.contains('\n'), "{line}");
            assert_eq!(Message::read(body.as_bytes()), Some(message));
        }
    }

    #[test]
    fn other_lines_are_not_messages() {
        for line in [
            "",
            "sat",
            "{}",
            "[]",
            "null",
            "{\"verdict\":\"perhaps\"}",
            "{\"verdict\":3}",
            "{\"verdict\":\"sat\",\"result\":{}}",
            "{\"result\":{\"answer\":\"sat\"}}",
            "{\"result\":{\"answer\":\"fine\",\"text\":\"\"}}",
            "{\"text_read\":{\"family\":\"none such\",\"before\":\"\",\"after\":[]}}",
            "{\"text_read\":7}",
            "\u{fffd}",
        ] {
            assert_eq!(Message::read(line.as_bytes()), None, "{line}");
        }
        assert_eq!(Message::read(b"\xff\xfe"), None);
    }
}
