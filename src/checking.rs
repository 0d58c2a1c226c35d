//! `alphorn check`: witnesses from elsewhere, one by one or in alphorn's output for a script.
//!
//! Invariant: `valid` is printed only for a witness that `witness::check_claim` has found valid.

use alphorn::frontend::{Dialect, Problem, decode};
use alphorn::run::Context;
use alphorn::session::{Action, Session, answers, is_session, proof};
use alphorn::witness::{CheckOutcome, Witness, check_claim, parse_witness, value_in_model};

use crate::cli::Source;
use crate::dialogue::end_of;
use crate::supervise::{Answer, RunResult, TextOptions};
use crate::worker::{Worker, read_bytes};

impl Worker<'_> {
    /// Checks a witness from elsewhere against a problem, or the output for a script against each of
    /// its questions. With a term, prints its value in the model, which is not checked.
    pub fn check(
        &self,
        problem: &Source,
        witness: &Source,
        value: Option<&str>,
    ) -> Result<RunResult, String> {
        let input = read_bytes(problem)?;
        let witness = read_bytes(witness)?;
        let witness =
            String::from_utf8(witness).map_err(|_| "witness: this is not UTF-8 text".to_owned())?;
        self.reporter.text_options(TextOptions::default());
        if let Ok((text, _)) = decode(&input)
            && is_session(&text)
        {
            return self.check_session(&text, &witness);
        }
        let (problem, mut cx) = self.read(&input, (0, 0))?;
        if let Some(term) = value {
            let claim = parse_witness(&problem, &witness).map_err(|e| format!("witness: {e}"))?;
            let Witness::Model(model) = claim.witness else {
                return Err("the witness is no model".to_owned());
            };
            let value = value_in_model(&problem, &model.definitions, term, &cx.budget)?;
            let answer = Answer::Text(format!("{value}\n"), 0);
            return Ok(self.result(answer, None, (problem, cx)));
        }
        let printed = match problem.requests.replies {
            true => answers(&witness, &[problem.dialect == Dialect::Fixedpoint]),
            false => Vec::new(),
        };
        let witness = match &printed[..] {
            [only] => only,
            _ => &witness,
        };
        let (word, note, status) = judge(&problem, witness, &mut cx)?;
        Ok(self.result(
            Answer::Text(format!("{word}\n"), status),
            note,
            (problem, cx),
        ))
    }

    /// Checks alphorn's output for a script: a line for each question, and the worst status.
    fn check_session(&self, script: &str, output: &str) -> Result<RunResult, String> {
        let mut session = Session::default();
        session.feed(script);
        let mut questions = Vec::new();
        while let Some(action) = session.next_action() {
            match action.map_err(|e| e.to_string())? {
                Action::Check { text, of_rules } => questions.push((text, of_rules)),
                Action::Exit => break,
                _ => {}
            }
        }
        let of_rules: Vec<bool> = questions.iter().map(|question| question.1).collect();
        let printed = answers(output, &of_rules);
        if printed.len() > questions.len() {
            let (answers, questions) = (printed.len(), questions.len());
            return Err(format!(
                "witness: {answers} answers to {questions} questions"
            ));
        }
        let mut text = String::new();
        let mut notes = Vec::new();
        let mut worst = 0;
        let (mut shown, mut rest) = ((0, 0), None);
        for (number, (question, _)) in questions.iter().enumerate() {
            let (problem, mut cx) = self.read(question.as_bytes(), shown)?;
            shown = end_of(question);
            let answer = printed.get(number).map(String::as_str);
            let (word, note, status) = match answer {
                None => ("unknown", Some("there is no answer".to_owned()), 3),
                Some("unknown\n") => ("unknown", Some("the verdict is unknown".to_owned()), 3),
                Some(answer) => judge(&problem, answer, &mut cx)
                    .map_err(|message| format!("question {}: {message}", number + 1))?,
            };
            text.push_str(&format!("{word}\n"));
            notes.extend(note.map(|why| format!("question {}: {why}", number + 1)));
            // Invalid is worse than not known.
            worst = match (worst, status) {
                (2, _) | (_, 2) => 2,
                (worst, status) => status.max(worst),
            };
            rest = Some((problem, cx));
        }
        let rest = rest.ok_or("the script asks nothing")?;
        let note = (!notes.is_empty()).then(|| notes.join("\n"));
        Ok(self.result(Answer::Text(text, worst), note, rest))
    }
}

/// The outcome of the check of a witness: a word, the reason, and the exit status.
///
/// # Errors
/// The text is no witness.
fn judge(
    problem: &Problem,
    witness: &str,
    cx: &mut Context,
) -> Result<(&'static str, Option<String>, i32), String> {
    // A conversation has refutations as S-expressions.
    let as_json = proof::read(witness);
    let witness = as_json.as_deref().unwrap_or(witness);
    let claim = parse_witness(problem, witness).map_err(|e| format!("witness: {e}"))?;
    Ok(match check_claim(problem, &claim, cx) {
        CheckOutcome::Valid => ("valid", None, 0),
        CheckOutcome::Invalid(why) => ("invalid", Some(why), 2),
        CheckOutcome::Undecided { why, .. } => ("unknown", Some(why), 3),
    })
}
