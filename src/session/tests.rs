//! Scripts and their questions and replies.

use super::*;
use crate::reply::Later;

/// The actions of a script that arrives in pieces of this size.
fn actions(script: &str, size: usize) -> Vec<Result<Action, SessionError>> {
    let mut session = Session::default();
    let mut found = Vec::new();
    let letters: Vec<char> = script.chars().collect();
    for piece in letters.chunks(size) {
        session.feed(&piece.iter().collect::<String>());
        while let Some(action) = session.next_action() {
            found.push(action);
        }
    }
    found.retain(|action| *action != Ok(Action::None));
    found
}

/// The questions of a script, with single spaces.
fn questions(script: &str) -> Vec<String> {
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let question = |action| match action {
        Ok(Action::Check { text, .. }) => Some(words(text)),
        _ => None,
    };
    actions(script, 1)
        .into_iter()
        .filter_map(question)
        .collect()
}

#[test]
fn questions_have_the_commands_in_force() {
    let script = "(set-logic HORN) (declare-fun p () Bool)(assert p)
        (push) (assert (=> p false)) (check-sat) (pop 1) (check-sat)
        (push 2) (set-option :timeout 7) (declare-fun q () Bool) (pop) (pop)
        (check-sat-assuming (p (not p)))
        (reset-assertions) (check-sat) (reset) (check-sat)";
    let head = "(set-logic HORN) (declare-fun p () Bool)(assert p)";
    assert_eq!(
        questions(script),
        [
            format!("{head} (assert (=> p false)) (check-sat)"),
            format!("{head} (check-sat)"),
            format!("{head} (set-option :timeout 7) (assert (and p (not p))) (check-sat)"),
            "(set-logic HORN) (set-option :timeout 7) (check-sat)".to_owned(),
            "(check-sat)".to_owned(),
        ]
    );
    let global = "(set-option :global-declarations true) (push) (declare-fun p () Bool)
        (assert p) (pop) (check-sat)";
    let expected = "(set-option :global-declarations true) (declare-fun p () Bool) (check-sat)";
    assert_eq!(questions(global), [expected]);
    let rules = "(declare-rel p ()) (declare-rel q ()) (rule p) (query p) (query q)";
    let head = "(declare-rel p ()) (declare-rel q ()) (rule p)";
    assert_eq!(
        questions(rules),
        [format!("{head} (query p)"), format!("{head} (query q)")]
    );
}

#[test]
fn places_stay_and_pieces_do_not_matter() {
    let script = "; häh\n(push)\n (assert |a\n)|) (pop) (assert \"(\" ) ; (\n  (check-sat)\n";
    let text = "\n\n\n          (assert \"(\" )\n  (check-sat)\n";
    for size in 1..script.len() {
        let check = Action::Check {
            text: text.to_owned(),
            of_rules: false,
        };
        assert_eq!(actions(script, size), [Ok(check)], "{size}");
    }
}

#[test]
fn other_commands() {
    let print = |text: &str| Ok(Action::Print(text.to_owned()));
    let script = "(echo \"a b\") (get-info :name) (get-value (x)) (get-model) (get-proof)
        (get-info :reason-unknown) (set-option :print-success true) (assert p) (exit) ";
    let found = actions(script, 7);
    let expected = [
        print("\"a b\""),
        print("(:name \"alphorn\")"),
        Ok(Action::Request(Request::Values(vec!["x".to_owned()]))),
        Ok(Action::Request(Request::Model)),
        Ok(Action::Request(Request::Proof)),
        Ok(Action::Request(Request::Reason)),
        print("success"),
        print("success"),
        Ok(Action::Exit),
    ];
    assert_eq!(found, expected);
}

#[test]
fn errors_have_places() {
    for (script, expected) in [
        (
            "(push)\n (pop 2)",
            "line 2 column 2: there is nothing to pop",
        ),
        (
            "(push -1)",
            "line 1 column 7: a number of levels up to 100000 is expected",
        ),
        ("\nhello ", "line 2 column 1: this is not a command"),
        (") ", "line 1 column 1: this is not a command"),
        (" (solve)", "line 1 column 2: unknown command: solve"),
        (
            "(check-sat-assuming ((and p q)))",
            "line 1 column 1: Boolean symbols and their negations are expected",
        ),
    ] {
        let found = actions(script, 3);
        let errors: Vec<String> = found
            .iter()
            .filter_map(|a| a.as_ref().err())
            .map(ToString::to_string)
            .collect();
        assert_eq!(errors, [expected], "{script}");
    }
}

#[test]
fn single_questions_are_no_sessions() {
    for (text, expected) in [
        ("(check-sat)", false),
        ("(check-sat) ; (check-sat)", false),
        (
            "(assert |(check-sat)|) (set-info :x (check-sat)) (check-sat)",
            false,
        ),
        ("(check-sat) (check-sat)", true),
        ("(check-sat-assuming (p))", true),
        ("(check-sat-using smt)", false),
        ("(check-sat) (check-sat-using (then simplify horn))", true),
        ("(query p) (query q)", true),
        ("(declare-rel query ()) (query query)", false),
    ] {
        assert_eq!(is_session(text), expected, "{text}");
    }
}

/// The replies of a script without questions that are answered, as texts.
fn printed(script: &str) -> Vec<String> {
    let text = |action| match action {
        Ok(Action::Print(text)) => text,
        Ok(Action::Error(error)) | Err(error) => format!("error: {error}"),
        Ok(Action::Check { .. }) => "?".to_owned(),
        Ok(action) => format!("{action:?}"),
    };
    actions(script, 5).into_iter().map(text).collect()
}

#[test]
fn information_needs_no_answer() {
    let script = "(set-option :produce-proofs false) (get-option :produce-proofs)
        (get-option :random-seed) (set-option :fp.engine bmc) (get-option :fp.engine)
        (get-option :flying) (push 2) (get-info :assertion-stack-levels) (get-info :authors)
        (get-info :error-behavior) (get-info :all-statistics) (assert p) (get-assertions)
        (pop 2) (get-assertions) (reset) (get-option :produce-proofs) ";
    let expected = [
        "false",
        "0",
        "bmc",
        "unsupported",
        "(:assertion-stack-levels 2)",
        "(:authors \"the authors of alphorn\")",
        "(:error-behavior immediate-exit)",
        "unsupported",
        "(\np\n)",
        "(\n)",
        "true",
    ];
    assert_eq!(printed(script), expected);
    assert_eq!(printed("(rule p) (get-assertions) "), ["unsupported"]);
}

#[test]
fn requests_have_the_names_of_the_question() {
    let script = "(assert (! p :named a)) (push) (assert q) (assert (! r :named |b c|)) (check-sat)
        (get-unsat-core) (pop) (get-assignment) (check-sat) (get-assignment)
        (assert (=> (! p :named d) q)) (check-sat) (get-assignment) ";
    let name = |name: &str| Some(name.to_owned());
    let all = vec![name("a"), None, name("|b c|")];
    let requests: Vec<Request> = actions(script, 3)
        .into_iter()
        .filter_map(|action| match action {
            Ok(Action::Request(request)) => Some(request),
            _ => None,
        })
        .collect();
    let expected = [
        Request::UnsatCore(all.clone()),
        Request::Assignment(Some(all)),
        Request::Assignment(Some(vec![name("a")])),
        Request::Assignment(None),
    ];
    assert_eq!(requests, expected);
}

/// A command that is not known may change the problem, but not an answer that has been given.
#[test]
fn commands_that_are_not_known() {
    assert_eq!(
        printed("(simplify (+ 1 2)) (check-sat) (simplify 1) (eval p) (frob) (check-sat) "),
        [
            "unsupported",
            "?",
            "error: line 1 column 32: the command `simplify` is not supported",
            "error: line 1 column 45: the command `eval` is not supported",
            "error: line 1 column 54: unknown command: frob",
            "error: line 1 column 61: there is no answer, since the command `frob` is unknown",
        ]
    );
    assert_eq!(
        printed("(check-sat) (frob) (reset) (check-sat) "),
        ["?", "error: line 1 column 13: unknown command: frob", "?"]
    );
}

#[test]
fn replies_of_a_text_with_one_question() {
    let text = "(echo \"a\") (get-model) (get-unsat-core) (assert (! p :named n)) (check-sat)
        (get-unsat-core) (frob) (echo \"b\") (exit) (echo \"c\")";
    let found = replies(text);
    assert_eq!(found.before, "\"a\"\n(error \"there is no unsat core\")\n");
    let names = vec![Some("n".to_owned())];
    assert_eq!(
        found.after,
        [
            Later::Request(Request::Model),
            Later::Request(Request::UnsatCore(names)),
            Later::Text("(error \"line 2 column 26: unknown command: frob\")\n".to_owned()),
            Later::Text("\"b\"\n".to_owned()),
        ]
    );
    let behind = replies("(check-sat) (get-model) (pop 3) (get-model)").after;
    let error = "(error \"line 1 column 25: there is nothing to pop\")\n".to_owned();
    let expected = [Later::Request(Request::Model), Later::Text(error)];
    assert_eq!(behind, expected);
    let asked_at_the_end = replies("(get-info :reason-unknown) (assert p)");
    assert_eq!(asked_at_the_end.after, [Later::Request(Request::Reason)]);
}
