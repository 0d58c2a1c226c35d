//! The replies of a text with one question, which one process answers with the verdict.
//!
//! Invariant: the replies and the verdict are what the commands one by one would print.

use super::{Action, Session};
use crate::reply::{Later, Replies, error_line, reply};

/// The replies of a text with one question.
pub fn replies(text: &str) -> Replies {
    let mut session = Session::default();
    session.feed(text);
    let mut replies = Replies::default();
    let mut deferred: Vec<Later> = Vec::new();
    let mut asked = false;
    while let Some(action) = session.next_action() {
        let text = match action {
            Ok(Action::None) => continue,
            Ok(Action::Exit) => break,
            Ok(Action::Check { .. }) => {
                asked = true;
                replies.after.append(&mut deferred);
                continue;
            }
            Ok(Action::Print(text)) => format!("{text}\n"),
            Ok(Action::Request(request)) if asked => {
                replies.after.push(Later::Request(request));
                continue;
            }
            Ok(Action::Request(request)) if request.may_precede() => {
                deferred.push(Later::Request(request));
                continue;
            }
            Ok(Action::Request(request)) => reply(&request, None),
            Ok(Action::Error(error)) => error_line(&error.to_string()),
            // Before the question the reader has refused such a text.
            Err(error) => {
                if asked {
                    let text = error_line(&error.to_string());
                    replies.after.push(Later::Text(text));
                }
                break;
            }
        };
        match asked {
            true => replies.after.push(Later::Text(text)),
            false => replies.before.push_str(&text),
        }
    }
    // Without a question in the text it is asked at the end.
    replies.after.append(&mut deferred);
    replies
}
