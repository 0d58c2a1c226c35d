use std::fs;

use super::*;
use crate::strategy::solve;
use alphorn_chc::frontend::parse;
use alphorn_term::TermStore;

/// Clauses of a counter that starts with `start`, grows by 2, and must not be `never`.
fn counter(start: i64, never: i64) -> String {
    format!(
        "(set-logic HORN)
        (declare-datatype Box ((box (content Int))))
        (declare-fun P (Box Int) Bool)
        (assert (forall ((b Box) (x Int)) (=> (and (= (content b) {start}) (= x 0)) (P b x))))
        (assert (forall ((b Box) (x Int)) (=> (P b x) (P (box (+ (content b) 2)) (+ x 1)))))
        (assert (forall ((b Box) (x Int)) (=> (and (P b x) (= (content b) {never})) false)))
        (check-sat)"
    )
}

fn read_in(text: &str, terms: &Rc<TermStore>) -> Problem {
    parse(text, terms.clone()).expect("a problem")
}

/// The verdict on a text with the cache, and the number of hints that were the answer.
fn answered(cache: &Cache, text: &str) -> (&'static str, u64) {
    let terms = Rc::new(TermStore::new());
    let problem = read_in(text, &terms);
    let mut cx = Context::new(terms);
    let answer = cache.solve(&problem, &Config::default(), &mut cx).unwrap();
    let count = |name| cx.stats.count(name);
    let word = answer.output(&problem, Wanted::default()).word();
    (word, count("hints.models") + count("hints.refutations"))
}

fn folder() -> (tempfile::TempDir, Cache) {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(&folder.path().join("a/b")).unwrap();
    (folder, cache)
}

#[test]
fn the_same_clauses_are_answered_by_the_hint() {
    let (_folder, cache) = folder();
    for (text, word) in [(counter(1, 10), "sat"), (counter(0, 10), "unsat")] {
        assert_eq!(answered(&cache, &text), (word, 0));
        assert_eq!(answered(&cache, &text), (word, 1));
        // Neither names of variables nor comments matter.
        let other = text.replace("(b Box) (x Int)", "(c Box) (y Int)");
        let other = other.replace(" b)", " c)").replace("P b x", "P c y");
        let other = other.replace("= x 0", "= y 0").replace("+ x 1", "+ y 1");
        assert_ne!(text, other);
        assert_eq!(answered(&cache, &format!("; another\n{other}")), (word, 1));
    }
}

/// Functions are read with their measures and lemmas.
#[test]
fn models_with_recursive_functions_are_used_again() {
    let text = "(set-logic HORN)
        (declare-datatype Lst ((nil) (cons (head Int) (tail Lst))))
        (declare-fun app (Lst Lst Lst) Bool)
        (declare-fun len (Lst Int) Bool)
        (declare-fun never () Bool)
        (assert (forall ((y Lst)) (app nil y y)))
        (assert (forall ((x Int) (xs Lst) (y Lst) (z Lst))
            (=> (app xs y z) (app (cons x xs) y (cons x z)))))
        (assert (len nil 0))
        (assert (forall ((x Int) (xs Lst) (n Int)) (=> (len xs n) (len (cons x xs) (+ n 1)))))
        (assert (forall ((x Lst) (y Lst) (z Lst) (u Lst) (n Int) (m Int))
            (=> (and (app x y z) (app y x u) (len z n) (len u m) (distinct n m)) never)))
        (assert (=> never false))
        (check-sat)";
    let config = Config {
        engine: "induct".to_owned(),
        ..Config::default()
    };
    let (_folder, cache) = folder();
    let mut printed = Vec::new();
    for known in [0, 1] {
        let terms = Rc::new(TermStore::new());
        let problem = read_in(text, &terms);
        let mut cx = Context::new(terms);
        let answer = cache.solve(&problem, &config, &mut cx).unwrap();
        assert_eq!(cx.stats.count("hints.models"), known);
        let wanted = Wanted {
            model: true,
            ..Wanted::default()
        };
        printed.push(answer.output(&problem, wanted).details().to_owned());
    }
    assert!(printed[0].contains("\n; lemma "), "{}", printed[0]);
    for part in [
        "define-fun-rec",
        "; measure",
        "; lemma",
        ":induction",
        ":case",
    ] {
        let count = |text: &String| text.matches(part).count();
        assert_eq!(count(&printed[0]), count(&printed[1]), "{part}");
    }
}

#[test]
fn a_model_is_one_of_fewer_clauses_and_a_refutation_of_more() {
    let (_folder, cache) = folder();
    let line = "(assert (forall ((b Box) (x Int)) (=> (and (P b x) (< x 0)) false)))";
    let more = |text: &str| text.replace("(check-sat)", &format!("{line} (check-sat)"));
    assert_eq!(answered(&cache, &more(&counter(1, 10))), ("sat", 0));
    assert_eq!(answered(&cache, &counter(1, 10)), ("sat", 1));
    let (_folder, cache) = super::tests::folder();
    assert_eq!(answered(&cache, &counter(0, 10)), ("unsat", 0));
    assert_eq!(answered(&cache, &more(&counter(0, 10))), ("unsat", 1));
}

#[test]
fn answers_to_other_clauses_are_not_believed() {
    let (_folder, cache) = folder();
    for (start, never, word) in [
        (1, 10, "sat"),
        (0, 10, "unsat"),
        (1, 11, "unsat"),
        (0, 11, "sat"),
        (0, 12, "unsat"),
    ] {
        assert_eq!(
            answered(&cache, &counter(start, never)).0,
            word,
            "{start} {never}"
        );
    }
}

/// The lemmas of a model that still hold are conjoined to the clauses.
#[test]
fn lemmas_that_still_hold_are_kept() {
    let (_folder, cache) = folder();
    assert_eq!(answered(&cache, &counter(1, 10)).0, "sat");
    let terms = Rc::new(TermStore::new());
    let problem = read_in(&counter(3, 20), &terms);
    let hints = cache.hints(&problem);
    assert_eq!(hints.len(), 1);
    let mut cx = Context::new(terms);
    let answer = solve_with_hints(&problem, &Config::default(), &hints, |_| (), &mut cx).unwrap();
    assert_eq!(answer.reason(), None);
    assert!(
        cx.stats.count("lemmas.facts") > 0,
        "oddness is inductive here, too"
    );
}

#[test]
fn damaged_and_foreign_entries_are_left_alone() {
    let text = counter(1, 10);
    let terms = Rc::new(TermStore::new());
    let problem = read_in(&text, &terms);
    let answer = solve(&problem, &Config::default(), &mut Context::new(terms)).unwrap();
    let (_folder, cache) = folder();
    cache.store(&problem, &answer);
    assert_eq!(cache.hints(&problem).len(), 1);
    let path = cache.entries()[0].path.clone();
    let good = fs::read(&path).unwrap();
    for position in (0..good.len()).step_by(7) {
        let mut bad = good.clone();
        bad[position] ^= 1;
        fs::write(&path, &bad).unwrap();
        // A change in the header's list of predicates makes no difference for the same text.
        let found = cache.hints(&problem);
        let header = good.iter().position(|&b| b == b'\n').unwrap();
        assert!(found.is_empty() || position < header, "{position}");
    }
    for bad in [
        &b""[..],
        b"{}",
        b"\xff\xfe",
        b"{}\n{}",
        b"hello\n",
        &good[..good.len() / 2],
    ] {
        fs::write(&path, bad).unwrap();
        assert!(cache.hints(&problem).is_empty());
    }
    // A wrong witness with a correct sum does not change the verdict.
    let lies = String::from_utf8(good).unwrap();
    let (_, body) = lies.trim_end().split_once('\n').unwrap();
    let body = body.replace("Bool (", "Bool (or true ");
    let header = json!({
        "alphorn-cache": FORMAT, "version": env!("CARGO_PKG_VERSION"), "sum": hash(&*body),
        "predicates": [],
    });
    fs::write(&path, format!("{header}\n{body}\n")).unwrap();
    assert_eq!(cache.hints(&problem).len(), 1);
    assert_eq!(answered(&cache, &text), ("sat", 0));
}

#[test]
fn the_newest_entries_are_kept() {
    let (_folder, cache) = folder();
    for number in 0..LIMITS.entries + 5 {
        let name = format!("{:016x}-{number:016x}.{EXTENSION}", 7);
        fs::write(cache.folder.join(name), "").unwrap();
    }
    fs::write(cache.folder.join("mine.txt"), "").unwrap();
    cache.remove_oldest();
    assert_eq!(cache.entries().len(), LIMITS.entries);
    assert!(cache.folder.join("mine.txt").exists());
}
