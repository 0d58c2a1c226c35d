//! Replies to the commands of a script that ask for something besides a verdict.
//!
//! Invariant: a request has one reply, in the order of the script: what it asks for, or an error that
//! says why there is none. Replies are texts of whole lines.

use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use alphorn_chc::frontend::{Dialect, Problem};
use alphorn_term::run::{Budget, Reason};
use alphorn_witness::{
    Output, ProofFormat, Validated, Verdict, Wanted, string_literal, value_in_model,
};

/// How long the values of a text's terms are looked for.
const TIME_FOR_VALUES: Duration = Duration::from_secs(10);

/// The names of assertions, by their number from 1 among the assertions in force; `None` for one
/// without a name.
pub type Names = Vec<Option<String>>;

/// A request about the last answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// The model.
    Model,
    /// The refutation.
    Proof,
    /// The reason of an `unknown`.
    Reason,
    /// The named assertions that the refutation uses.
    UnsatCore(Names),
    /// The values of these terms in the model.
    Values(Vec<String>),
    /// The Boolean values of the named formulas; `None` if a name is not that of an assertion.
    Assignment(Option<Names>),
}

impl Request {
    /// Whether the request, before the first question of a file, is about the answer to it. By the
    /// standard it is an error there.
    pub fn may_precede(&self) -> bool {
        matches!(self, Request::Model | Request::Proof | Request::Reason)
    }
}

/// The answer that requests are about.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The verdict.
    pub word: String,
    /// Whether the question was a `query` of the fixedpoint dialect.
    pub of_rules: bool,
    /// The model, the refutation, or the line with the reason of `unknown`.
    pub details: String,
    /// Whether the witness was printed with the verdict.
    pub printed: bool,
    /// The numbers of the assertions that the refutation uses.
    pub used: Vec<usize>,
    /// The values of terms that are asked for, or why there are none.
    pub values: FxHashMap<String, Result<String, String>>,
}

impl Answer {
    fn is_unknown(&self) -> bool {
        self.word == "unknown"
    }

    /// Whether the witness is a model.
    pub fn has_model(&self) -> bool {
        !self.is_unknown() && (self.word == "sat") != self.of_rules
    }

    fn has_proof(&self) -> bool {
        !self.is_unknown() && !self.has_model()
    }
}

/// An error in the form of SMT-LIB, as a line.
pub fn error_line(message: &str) -> String {
    format!("(error {})\n", string_literal(message))
}

/// The reply to a request about the last answer, `None` if there is no answer yet.
pub fn reply(request: &Request, last: Option<&Answer>) -> String {
    let none = |what: &str| error_line(&format!("there is no {what}"));
    match (request, last) {
        (Request::Model, Some(last)) if last.has_model() => witness(last),
        (Request::Model, _) => none("model"),
        (Request::Proof, Some(last)) if last.has_proof() => witness(last),
        (Request::Proof, _) => none("proof"),
        (Request::Reason, Some(last)) if last.is_unknown() => last.details.clone(),
        (Request::Reason, _) => error_line("the last answer is not unknown"),
        // In the fixedpoint dialect a derivation makes the answer `sat`.
        (Request::UnsatCore(names), Some(last)) if last.word == "unsat" && last.has_proof() => {
            let named = last.used.iter().filter_map(|&number| {
                let name = number.checked_sub(1).and_then(|at| names.get(at));
                name?.as_deref()
            });
            format!("({})\n", named.collect::<Vec<_>>().join(" "))
        }
        (Request::UnsatCore(_), _) => none("unsat core"),
        (Request::Assignment(names), Some(last)) if last.word == "sat" && last.has_model() => {
            let Some(names) = names else {
                return UNSUPPORTED.to_owned();
            };
            // All assertions hold in the model.
            let pairs = names.iter().flatten().map(|name| format!("({name} true)"));
            format!("({})\n", pairs.collect::<Vec<_>>().join(" "))
        }
        (Request::Assignment(_), _) => none("assignment"),
        (Request::Values(terms), Some(last)) if last.has_model() && !last.of_rules => {
            let mut pairs = Vec::with_capacity(terms.len());
            for term in terms {
                match last.values.get(term) {
                    Some(Ok(value)) => pairs.push(format!("({term} {value})")),
                    Some(Err(message)) => return error_line(message),
                    None => return error_line("the value was not found in time"),
                }
            }
            format!("({})\n", pairs.join(" "))
        }
        (Request::Values(_), _) => none("model"),
    }
}

/// The reply to what is not supported.
pub const UNSUPPORTED: &str = "unsupported\n";

fn witness(last: &Answer) -> String {
    match last.printed {
        true => String::new(),
        false => last.details.clone(),
    }
}

/// A reply after the verdict of a text with one question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Later {
    /// This text.
    Text(String),
    /// The reply to a request about the answer.
    Request(Request),
}

/// The replies of a text with one question.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Replies {
    /// The replies before the verdict.
    pub before: String,
    /// The replies after it.
    pub after: Vec<Later>,
}

impl Replies {
    /// Whether the text asks for values of terms.
    pub fn asks_values(&self) -> bool {
        let asks = |later: &Later| matches!(later, Later::Request(Request::Values(_)));
        self.after.iter().any(asks)
    }

    /// The output for an answer: the verdict with what is `wanted`, between the replies. Values of
    /// terms are searched for only if that is said.
    pub fn output(
        &self,
        problem: &Problem,
        answer: &Validated,
        wanted: Wanted,
        finds_values: bool,
    ) -> Output {
        let with_verdict = answer.output(problem, wanted);
        if *self == Replies::default() {
            return with_verdict;
        }
        let all = Wanted {
            model: true,
            derivations: wanted.derivations,
            proof: wanted.proof.or(Some(ProofFormat::Text)),
            reason_unknown: true,
        };
        let asks = |request: &Later| matches!(request, Later::Request(_));
        let details = match self.after.iter().any(asks) {
            true => answer.output(problem, all).details().to_owned(),
            false => String::new(),
        };
        let last = Answer {
            word: with_verdict.word().to_owned(),
            of_rules: problem.dialect == Dialect::Fixedpoint,
            printed: !with_verdict.details().is_empty(),
            details,
            used: answer.used_assertions(problem),
            values: match finds_values {
                true => self.values(problem, answer),
                false => FxHashMap::default(),
            },
        };
        let mut text = with_verdict.details().to_owned();
        for later in &self.after {
            text.push_str(&match later {
                Later::Text(text) => text.clone(),
                Later::Request(request) => reply(request, Some(&last)),
            });
        }
        with_verdict.among(self.before.clone(), text)
    }

    /// The values of the terms that are asked for.
    fn values(
        &self,
        problem: &Problem,
        answer: &Validated,
    ) -> FxHashMap<String, Result<String, String>> {
        let mut found = FxHashMap::default();
        if !matches!(answer.verdict(), Verdict::Sat(_)) {
            return found;
        }
        let budget = Budget::new(problem.terms.clone(), Arc::default(), false);
        let budget = budget.time(TIME_FOR_VALUES);
        let definitions = answer.definitions();
        for later in &self.after {
            let Later::Request(Request::Values(terms)) = later else {
                continue;
            };
            for term in terms {
                let value = || value_in_model(problem, &definitions, term, &budget);
                found.entry(term.clone()).or_insert_with(value);
            }
        }
        found
    }

    /// The replies if the answer is `unknown`; its reason follows the verdict if it is `wanted`.
    pub fn unknown(&self, wanted: Wanted) -> UnknownReplies {
        let last = Answer {
            word: "unknown".to_owned(),
            ..Answer::default()
        };
        let mut after = Vec::new();
        after.extend(wanted.reason_unknown.then_some(None));
        after.extend(self.after.iter().map(|later| match later {
            Later::Text(text) => Some(text.clone()),
            Later::Request(Request::Reason) => None,
            Later::Request(request) => Some(reply(request, Some(&last))),
        }));
        UnknownReplies {
            before: self.before.clone(),
            after,
        }
    }
}

/// The replies of a text with one question whose answer is `unknown`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UnknownReplies {
    /// The replies before the verdict.
    pub before: String,
    /// The replies after it; `None` for the reason of the answer.
    pub after: Vec<Option<String>>,
}

impl UnknownReplies {
    /// The output of a run that ends for this reason.
    pub fn output(&self, reason: &Reason) -> Output {
        let wanted = Wanted {
            reason_unknown: true,
            ..Wanted::default()
        };
        let output = Output::unknown(reason, wanted);
        let line = output.details().to_owned();
        let after = self.after.iter();
        let after = after.map(|reply| reply.as_deref().unwrap_or(&line));
        let after = after.collect::<String>();
        output.among(self.before.clone(), after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(word: &str, of_rules: bool) -> Answer {
        Answer {
            word: word.to_owned(),
            of_rules,
            details: "details\n".to_owned(),
            printed: false,
            used: vec![1, 3, 4],
            values: FxHashMap::default(),
        }
    }

    #[test]
    fn each_request_has_a_reply() {
        let names: Names = ["a", "b", "", "|d e|"]
            .map(|name| Some(name.to_owned()).filter(|name| !name.is_empty()))
            .into();
        let core = Request::UnsatCore(names.clone());
        let assignment = Request::Assignment(Some(names));
        let partly = Request::Assignment(None);
        let none = |what: &str| format!("(error \"there is no {what}\")\n");
        let known = "(error \"the last answer is not unknown\")\n".to_owned();
        let details = || "details\n".to_owned();
        for (word, of_rules, expected) in [
            (
                "sat",
                false,
                [
                    details(),
                    none("proof"),
                    known.clone(),
                    none("unsat core"),
                    "((a true) (b true) (|d e| true))\n".to_owned(),
                    UNSUPPORTED.to_owned(),
                ],
            ),
            (
                "unsat",
                false,
                [
                    none("model"),
                    details(),
                    known.clone(),
                    "(a |d e|)\n".to_owned(),
                    none("assignment"),
                    none("assignment"),
                ],
            ),
            (
                "sat",
                true,
                [
                    none("model"),
                    details(),
                    known.clone(),
                    none("unsat core"),
                    none("assignment"),
                    none("assignment"),
                ],
            ),
            (
                "unknown",
                false,
                [
                    none("model"),
                    none("proof"),
                    details(),
                    none("unsat core"),
                    none("assignment"),
                    none("assignment"),
                ],
            ),
        ] {
            let last = answer(word, of_rules);
            let requests = [
                &Request::Model,
                &Request::Proof,
                &Request::Reason,
                &core,
                &assignment,
                &partly,
            ];
            let found = requests.map(|request| reply(request, Some(&last)));
            assert_eq!(found, expected, "{word} {of_rules}");
            assert!(
                requests
                    .map(|r| reply(r, None))
                    .iter()
                    .all(|r| r.starts_with("(error"))
            );
        }
        let printed = Answer {
            printed: true,
            ..answer("sat", false)
        };
        assert_eq!(reply(&Request::Model, Some(&printed)), "");
    }

    #[test]
    fn an_unknown_has_its_reason_in_its_place() {
        let replies = Replies {
            before: "\"one\"\n".to_owned(),
            after: vec![
                Later::Request(Request::Model),
                Later::Request(Request::Reason),
                Later::Text("\"two\"\n".to_owned()),
            ],
        };
        let output = replies.unknown(Wanted::default()).output(&Reason::Timeout);
        assert_eq!(output.before(), "\"one\"\n");
        assert_eq!(output.word(), "unknown");
        assert_eq!(
            output.details(),
            "(error \"there is no model\")\n(:reason-unknown \"timeout\")\n\"two\"\n"
        );
    }
}
