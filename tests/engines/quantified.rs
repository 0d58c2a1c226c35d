//! Clauses with quantified constraints.

use std::rc::Rc;
use std::time::Duration;

use alphorn::{Config, solve};
use alphorn_chc::frontend::parse;
use alphorn_term::TermStore;
use alphorn_term::run::Context;
use alphorn_witness::Wanted;

/// The verdict of an engine about clauses.
fn answer(engine: &str, text: &str) -> &'static str {
    let terms = Rc::new(TermStore::new());
    let text = format!("(set-logic HORN)\n{text}\n(check-sat)\n");
    let problem = parse(&text, terms.clone()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut cx = Context::new(terms);
    cx.budget = cx.budget.work(Duration::from_secs(60));
    let config = Config {
        engine: engine.to_owned(),
        ..Config::default()
    };
    let answer = solve(&problem, &config, &mut cx).expect("the engine exists");
    assert_eq!(cx.stats.count("witness.failures"), 0, "{engine}: {text}");
    answer.output(&problem, Wanted::default()).word()
}

/// A loop over an array that is zero everywhere; `BAD` is the error at the end.
const ZEROS: &str = "
(declare-fun P (Int Int (Array Int Int)) Bool)
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
(=> (and (= i 0) (forall ((k Int)) (= (select a k) 0))) (P i n a))))
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
(=> (and (P i n a) (< i n)) (P (+ i 1) n a))))
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
(=> (and (P i n a) (>= i n) BAD) false)))";

/// An array that is sorted up to `n`; `BAD` is the error at any index below.
const SORTED: &str = "
(declare-fun P (Int Int (Array Int Int)) Bool)
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
(=> (and (= i 0) (forall ((k Int) (l Int))
        (=> (and (<= 0 k) (< k l) (< l n)) (<= (select a k) (select a l))))) (P i n a))))
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
(=> (and (P i n a) (< (+ i 1) n)) (P (+ i 1) n a))))
(assert (forall ((i Int) (n Int) (a (Array Int Int)))
(=> (and (P i n a) (< (+ i 1) n) BAD) false)))";

#[test]
fn quantified_constraints() {
    for (text, bad, expected) in [
        (ZEROS, "(not (= (select a 3) 0))", "sat"),
        (ZEROS, "(= (select a 3) 0)", "unsat"),
        (SORTED, "(> (select a 0) (select a (+ 0 1)))", "sat"),
        (SORTED, "(< (select a i) (select a (+ i 1)))", "unsat"),
    ] {
        for engine in ["pdr", "spacer", "vinta"] {
            let text = text.replace("BAD", bad);
            assert_eq!(answer(engine, &text), expected, "{engine}: {text}");
        }
    }
    // This needs an instance at a term that is not a numeral.
    let last = ZEROS.replace("BAD", "(not (= (select a i) 0))");
    let any = SORTED.replace("BAD", "(> (select a i) (select a (+ i 1)))");
    for engine in ["pdr", "morph"] {
        assert_eq!(answer(engine, &last), "sat");
        assert_eq!(answer(engine, &any), "sat");
    }
}
