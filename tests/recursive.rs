//! Recursive functions of the text: how they are read, answers about them, and broken witnesses.

#[path = "common/asked.rs"]
mod asked;
#[path = "common/corpus.rs"]
mod corpus;

use std::rc::Rc;

use alphorn::frontend::{Dialect, InputError, Problem, parse};
use alphorn::run::{Budget, Context};
use alphorn::term::{Printer, Random, TermId, TermStore};
use alphorn::witness::{CheckOutcome, ProofFormat, Validated, Wanted, check_claim, parse_witness};
use alphorn::{Config, solve};
use asked::asked;
use corpus::trials::PATIENCE;

const LISTS: &str = "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
    (define-fun-rec len ((x L)) Int (ite ((_ is nil) x) 0 (+ 1 (len (tl x)))))
    (define-fun-rec app ((x L) (y L)) L (match x ((nil y) ((cons h t) (cons h (app t y))))))
    (define-fun-rec mem ((n Int) (x L)) Bool
        (match x ((nil false) ((cons h t) (or (= n h) (mem n t))))))\n";

const EVEN: &str = "(define-funs-rec ((ev ((n Int)) Bool) (od ((n Int)) Bool))
    ((ite (<= n 0) true (od (- n 1))) (ite (<= n 0) false (ev (- n 1)))))\n";

fn read(text: &str) -> Problem {
    match parse(&asked(text), Rc::new(TermStore::new())) {
        Ok(problem) => problem,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn refuse(text: &str) -> InputError {
    match parse(&asked(text), Rc::new(TermStore::new())) {
        Ok(problem) => panic!("read as\n{}", show(&problem)),
        Err(error) => error,
    }
}

/// The clauses, with the names of variables in witnesses.
fn show(problem: &Problem) -> String {
    let mut lines = Vec::new();
    for clause in &problem.clauses {
        let mut printer = Printer::new(&problem.terms);
        for (name, var) in &clause.vars {
            printer.rename(*var, &**name);
        }
        let atom = |atom: &alphorn::chc::Atom| {
            let mut shown = problem.predicates[atom.predicate.index()].name.clone();
            for &arg in &atom.args {
                shown = format!("{shown} {}", printer.term(arg));
            }
            format!("({shown})")
        };
        let mut parts: Vec<String> = clause.body.iter().map(atom).collect();
        if clause.constraint != TermId::TRUE {
            parts.push(printer.term(clause.constraint));
        }
        let head = clause.head.as_ref().map_or("false".to_owned(), atom);
        lines.push(format!("{} => {head}", parts.join(" & ")));
    }
    lines.join("\n")
}

fn context(problem: &Problem) -> Context {
    let mut cx = Context::new(problem.terms.clone());
    cx.budget = cx.budget.time(PATIENCE);
    cx
}

/// The answer to a text; no witness may fail its check.
fn answer(problem: &Problem) -> Validated {
    let mut cx = context(problem);
    let answer = solve(problem, &Config::default(), &mut cx).expect("a configuration");
    assert_eq!(cx.stats.count("witness.failures"), 0, "{}", problem.text);
    answer
}

/// The verdict and its witness as they are printed.
fn printed(problem: &Problem, answer: &Validated, proof: ProofFormat) -> String {
    let wanted = Wanted {
        model: true,
        proof: Some(proof),
        reason_unknown: true,
        ..Wanted::default()
    };
    let output = answer.output(problem, wanted);
    format!("{}\n{}", output.word(), output.details())
}

/// The outcome of the check of a witness, `None` if it is not read.
fn judge(text: &str, witness: &str) -> Option<CheckOutcome> {
    let problem = read(text);
    let claim = parse_witness(&problem, witness).ok()?;
    Some(check_claim(&problem, &claim, &mut context(&problem)))
}

/// Checks that the answer is this one, and that its printed witness passes, in each format.
/// Returns the witness as text.
#[track_caller]
fn answers(text: &str, expected: &str) -> String {
    let problem = read(text);
    let answer = answer(&problem);
    let shown = printed(&problem, &answer, ProofFormat::Text);
    assert_eq!(shown.lines().next(), Some(expected), "{text}\n{shown}");
    for format in [ProofFormat::Text, ProofFormat::Json] {
        let shown = printed(&problem, &answer, format);
        assert_eq!(judge(text, &shown), Some(CheckOutcome::Valid), "{shown}");
    }
    shown
}

// ---- reading ----

#[test]
fn equations_are_clauses_of_graphs() {
    for (text, expected) in [
        (
            "(define-fun-rec fac ((n Int)) Int (ite (<= n 0) 1 (* n (fac (- n 1)))))",
            "(<= n 0) => (fac n 1)\n(fac (+ n (- 1)) fac!1) & (>= n 1) => (fac n (* n fac!1))",
        ),
        (
            EVEN,
            "(<= n 0) => (ev n true)\n(od (+ n (- 1)) od!1) & (>= n 1) => (ev n od!1)\n\
             (ev (+ n (- 1)) ev!1) & (>= n 1) => (od n ev!1)\n(<= n 0) => (od n false)",
        ),
        // An inner call comes first, and equal calls are one.
        (
            "(define-fun-rec f ((n Int)) Int (ite (<= n 0) 1 (+ (f (- n 1)) (f (f (- n 1))))))",
            "(<= n 0) => (f n 1)\n\
             (f (+ n (- 1)) f!1) & (f f!1 f!2) & (>= n 1) => (f n (+ f!1 f!2))",
        ),
        // A connective decides before its calls.
        (
            "(define-fun-rec g ((n Int)) Bool (and (> n 0) (not (g (- n 1)))))",
            "(g (+ n (- 1)) g!1) & (>= n 1) => (g n (not g!1))\n(<= n 0) => (g n false)",
        ),
        // A call in a condition is a call of both cases.
        (
            "(define-fun-rec h ((n Int)) Int (ite (> (h (- n 1)) 0) 1 (h (- n 2))))",
            "(h (+ n (- 1)) h!1) & (>= h!1 1) => (h n 1)\n\
             (h (+ n (- 2)) h!1) & (h (+ n (- 1)) h!2) & (<= h!2 0) => (h n h!1)",
        ),
        // No recursion, no graph.
        (
            "(define-fun-rec k ((n Int)) Int (+ n 1)) (declare-fun p (Int) Bool) (assert (p (k 1)))",
            " => (p 2)",
        ),
        (
            "(define-funs-rec ((k ((n Int)) Int) (l () Int)) ((+ n 1) 7))
             (declare-fun p (Int) Bool) (assert (p (k l)))",
            " => (p 8)",
        ),
        // A constant.
        (
            "(define-fun-rec c () Int (ite true 1 (+ c 1)))",
            " => (c 1)",
        ),
    ] {
        assert_eq!(show(&read(text)), expected, "{text}");
    }
}

#[test]
fn calls_are_body_atoms() {
    let text = |assertion: &str| {
        format!(
            "(define-fun-rec f ((n Int)) Int (ite (<= n 0) 1 (f (- n 1))))
             (declare-fun p (Int) Bool) (assert {assertion})"
        )
    };
    for (assertion, expected) in [
        ("(p (f 2))", "(f 2 f!1) => (p f!1)"),
        (
            "(forall ((x Int)) (=> (p x) (= (f x) 1)))",
            "(p x) & (f x f!1) & (not (= f!1 1)) => false",
        ),
        (
            "(forall ((x Int)) (=> (p (f x)) (p x)))",
            "(p f!1) & (f x f!1) => (p x)",
        ),
        // Each case has only the calls that it needs.
        (
            "(forall ((x Int)) (=> (and (p x) (or (> x 5) (> (f x) 3))) false))",
            "(p x) & (>= x 6) => false\n(p x) & (f x f!1) & (and (<= x 5) (>= f!1 4)) => false",
        ),
        (
            "(forall ((x Int)) (p (ite (> x 0) (f x) 0)))",
            "(f x f!1) & (>= x 1) => (p f!1)\n(<= x 0) => (p 0)",
        ),
        // A quantifier without calls below it.
        (
            "(forall ((x Int)) (=> (and (p (f x)) (forall ((y Int)) (or (< y x) (> y 3)))) false))",
            "(p f!1) & (f x f!1) & (forall ((y Int)) (or (<= (+ y (* (- 1) x)) (- 1)) (>= y 4))) \
             => false",
        ),
    ] {
        let shown = show(&read(&text(assertion)));
        let clauses: Vec<&str> = shown.lines().skip(2).collect();
        let expected: Vec<&str> = expected.lines().collect();
        if assertion.contains("forall ((y") {
            assert_eq!(clauses.len(), expected.len(), "{shown}");
        } else {
            assert_eq!(clauses, expected);
        }
    }
}

#[test]
fn definitions_end_with_their_level() {
    let text = "(declare-fun p (Int) Bool)
        (push 1) (define-fun-rec f ((n Int)) Int (ite (<= n 0) 1 (f (- n 1)))) (assert (p (f 0)))
        (pop 1) (define-fun-rec f ((n Int)) Bool (or (<= n 0) (f (- n 2))))
        (assert (forall ((x Int)) (=> (p x) (f x))))";
    let problem = read(text);
    assert_eq!(problem.functions.len(), 1);
    assert_eq!(problem.functions[0].name, "f");
    let shown = show(&problem);
    assert!(
        shown.ends_with("(p x) & (f x f!1) & (not f!1) => false"),
        "{shown}"
    );
    answers(text, "sat");
}

#[test]
fn what_has_no_reading_is_refused() {
    for (text, message) in [
        (
            "(define-fun-rec f ((n Int)) Int (f n)) (declare-fun p (Int) Bool)
             (assert (forall ((x Int)) (=> (and (p x) (forall ((y Int)) (> (f y) x))) false)))",
            "line 2 column 22: the recursive function `f` is called below a quantifier",
        ),
        (
            "(define-fun-rec f ((n Int)) Bool (forall ((y Int)) (f y)))",
            "line 1 column 34: the recursive function `f` is called below a quantifier",
        ),
        (
            "(define-fun-rec f ((f Int)) Int (+ f 1))",
            "line 1 column 21: the parameter `f` has the name of a function",
        ),
        (
            "(define-fun-rec f ((n Int) (n Int)) Int (f n n))",
            "line 1 column 29: `n` is bound twice here",
        ),
        (
            "(define-funs-rec ((f ((n Int)) Int) (g () Int)) ((f n)))",
            "line 1 column 18: 2 functions, but 1 bodies",
        ),
        (
            "(define-fun-rec f ((n Int)) Int)",
            "`define-fun-rec` ends too early",
        ),
        (
            "(define-funs-rec () ())",
            "unexpected `)` in `define-funs-rec`",
        ),
        (
            "(declare-fun p (Int) Bool) (define-fun-rec f ((n Int)) Bool (and (p n) (f n)))",
            "line 1 column 66: a predicate in the definition of a recursive function",
        ),
        ("(define-fun-rec f ((n Int)) Bool (+ (f n) 1))", "not"),
        (
            "(define-fun-rec f ((n Int)) Int (f n)) (define-fun-rec f ((n Int)) Int (f n))",
            "line 1 column 56: `f` is declared already",
        ),
        (
            "(define-fun-rec f ((n Int)) Int (f n)) (declare-fun p (Int) Bool) (assert (p 1))
             (assert (not (forall ((x Int)) (= (f x) 0))))",
            "line 2 column 22: a goal (a `forall` over recursive functions, negated) beside other",
        ),
        (
            "(define-fun-rec f ((n Int)) Int (f n))
             (assert (exists ((x Int)) (= (f x) 0))) (assert (= (f 1) 2))",
            "line 2 column 62: a goal",
        ),
    ] {
        let error = refuse(text).to_string();
        assert!(error.contains(message), "{error}, expected: {message}");
    }
}

#[test]
fn many_cases_take_linear_time_or_are_refused() {
    // One case for each condition of a chain.
    let chain = |count: usize| {
        let mut body = String::new();
        for i in 0..count {
            body += &format!("(ite (= n {i}) (f (- n {}))", i + 1);
        }
        format!(
            "(define-fun-rec f ((n Int)) Int {body} 0{})",
            ")".repeat(count)
        )
    };
    assert_eq!(read(&chain(1000)).clauses.len(), 1001);
    assert!(
        refuse(&chain(20_000))
            .to_string()
            .contains("too many cases")
    );
    // Sums of conditions have exponentially many; in assertions their calls are not divided.
    let sum: String = (0..40)
        .map(|i| format!(" (ite (> x {i}) (f (+ x {i})) 0)"))
        .collect();
    let f = "(define-fun-rec f ((n Int)) Int (ite (<= n 0) 1 (f (- n 1))))";
    let text = format!("{f} (declare-fun p (Int) Bool) (assert (forall ((x Int)) (p (+{sum}))))");
    let problem = read(&text);
    assert_eq!(problem.clauses.len(), 3);
    assert_eq!(problem.clauses[2].body.len(), 40);
    // Deep terms cost no stack.
    let deep = format!("{}n{}", "(+ 1 (f ".repeat(20_000), "))".repeat(20_000));
    read(&format!("(define-fun-rec f ((n Int)) Int {deep})"));
}

// ---- answers ----

#[test]
fn small_texts() {
    for (text, expected) in [
        (
            "(define-fun-rec fac ((n Int)) Int (ite (<= n 0) 1 (* n (fac (- n 1)))))
             (declare-fun p (Int) Bool) (assert (p (fac 4)))
             (assert (forall ((x Int)) (=> (p x) (distinct x 24))))",
            "unsat",
        ),
        // Without predicates.
        (
            "(define-fun-rec fac ((n Int)) Int (ite (<= n 0) 1 (* n (fac (- n 1)))))
             (assert (= (fac 3) 6))",
            "sat",
        ),
        (
            "(define-fun-rec fac ((n Int)) Int (ite (<= n 0) 1 (* n (fac (- n 1)))))
             (assert (= (fac 3) 7))",
            "unsat",
        ),
        // The dialect of rules.
        (
            "(declare-rel p (Int)) (declare-rel bad ()) (declare-var x Int)
             (define-fun-rec f ((n Int)) Int (ite (<= n 0) 1 (+ 1 (f (- n 1)))))
             (rule (p 0)) (rule (=> (and (p x) (< x 4)) (p (+ x 1))))
             (rule (=> (and (p x) (= (f x) 4)) bad)) (query bad)",
            "sat",
        ),
        // Below zero the equation has solutions, of which one is constant.
        (
            "(define-fun-rec f ((x Int)) Int (ite (= x 0) 0 (f (- x 1))))
             (declare-fun p (Int) Bool) (assert (p 5))
             (assert (forall ((x Int)) (=> (p x) (= (f x) 0))))",
            "sat",
        ),
        // A definition that uses another function, and one that uses a macro.
        (
            "(define-fun twice ((x Int)) Int (* 2 x))
             (define-fun-rec f ((x Int)) Int (ite (<= x 0) 0 (+ 2 (f (- x 1)))))
             (define-fun g ((x Int)) Int (f (twice x)))
             (define-fun-rec h ((x Int)) Int (ite (<= x 0) 0 (+ (g 1) (h (- x 1)))))
             (declare-fun p (Int Int) Bool) (assert (p 0 0))
             (assert (forall ((x Int) (y Int)) (=> (p x y) (p (+ x 1) (+ y 4)))))
             (assert (forall ((x Int) (y Int)) (=> (and (p x y) (> (h 3) 12)) false)))",
            "sat",
        ),
        // Real numbers, bit-vectors and arrays.
        (
            "(define-fun-rec f ((n Int)) Real (ite (<= n 0) 1.0 (/ (f (- n 1)) 2.0)))
             (declare-fun p (Real) Bool) (assert (p (f 2)))
             (assert (forall ((x Real)) (=> (p x) (> x 0.25))))",
            "unsat",
        ),
        (
            "(define-fun-rec f ((n Int) (v (_ BitVec 4))) (_ BitVec 4)
                (ite (<= n 0) v (f (- n 1) (bvshl v #x1))))
             (declare-fun p ((_ BitVec 4)) Bool) (assert (p (f 3 #x3)))
             (assert (forall ((x (_ BitVec 4))) (=> (p x) (= x #x8))))",
            "sat",
        ),
        (
            "(define-fun-rec f ((n Int)) (Array Int Int)
                (ite (<= n 0) ((as const (Array Int Int)) 0) (store (f (- n 1)) n n)))
             (declare-fun p (Int) Bool) (assert (forall ((a (Array Int Int)))
                (=> (= a (f 2)) (p (+ (select a 1) (select a 2) (select a 3))))))
             (assert (forall ((x Int)) (=> (p x) (distinct x 3))))",
            "unsat",
        ),
    ] {
        answers(text, expected);
    }
}

#[test]
fn lists() {
    for (text, expected) in [
        (
            "(declare-fun p (L) Bool) (assert (p (cons 1 (cons 2 nil))))
             (assert (forall ((t L)) (=> (p t) (< (len t) 2))))",
            "unsat",
        ),
        (
            "(declare-fun p (L Int) Bool) (assert (p nil 0))
             (assert (forall ((h Int) (t L) (n Int)) (=> (p t n) (p (cons h t) (+ n 1)))))
             (assert (forall ((t L) (n Int)) (=> (p t n) (= n (len t)))))",
            "sat",
        ),
        (
            "(declare-fun p (L L) Bool) (assert (forall ((x L)) (p nil x)))
             (assert (forall ((h Int) (x L) (y L)) (=> (p x y) (p (cons h x) (cons h y)))))
             (assert (forall ((x L) (y L)) (=> (p x y) (<= (len x) (len y)))))",
            "sat",
        ),
        (
            "(assert (forall ((n Int) (x L)) (=> (mem n x) (> (len x) 0))))",
            "sat",
        ),
        (
            "(assert (forall ((n Int) (x L) (y L)) (=> (mem n (app x y)) (mem n x))))",
            "unsat",
        ),
    ] {
        answers(&format!("{LISTS}{text}"), expected);
    }
}

#[test]
fn functions_that_call_each_other() {
    let text = |assertion: &str| {
        format!(
            "{EVEN} (declare-fun p (Int) Bool) (assert (p 4))
             (assert (forall ((x Int)) (=> (p x) (p (+ x 2)))))
             (assert (forall ((x Int)) (=> (p x) {assertion})))"
        )
    };
    answers(&text("(ev x)"), "sat");
    answers(&text("(od x)"), "unsat");
    answers(
        "(declare-datatypes ((T 0) (F 0)) (((node (val Int) (kids F))) ((fn) (fc (hd T) (tl F)))))
         (define-funs-rec ((st ((t T)) Int) (sf ((f F)) Int))
            ((+ 1 (sf (kids t))) (ite ((_ is fn) f) 0 (+ (st (hd f)) (sf (tl f))))))
         (assert (forall ((t T)) (> (st t) 0)))",
        "sat",
    );
}

/// No function satisfies `f x = ¬ f x`, and `g x = g x + 1`; `h` has infinitely many solutions.
#[test]
fn recursion_that_does_not_end_has_no_model() {
    for text in [
        "(define-fun-rec f ((x Int)) Bool (not (f x))) (declare-fun p (Int) Bool) (assert (p 0))",
        "(define-fun-rec g ((x Int)) Int (+ 1 (g x))) (assert (= 0 0))",
        "(define-fun-rec g ((x Int)) Int (+ 1 (g x)))
         (assert (not (forall ((x Int)) (= (g x) 0))))",
        "(define-fun-rec h ((x Int)) Int (ite (< x 0) 0 (h (+ x 1))))
         (declare-fun p (Int) Bool) (assert (forall ((x Int)) (=> (p x) (= (h x) 1))))",
        "(define-funs-rec ((a ((x Int)) Bool) (b ((x Int)) Bool)) ((b x) (not (a x))))
         (declare-fun p (Int) Bool) (assert (p 0))",
    ] {
        let problem = read(text);
        let answer = answer(&problem);
        let shown = printed(&problem, &answer, ProofFormat::Text);
        assert!(shown.contains("is not known to end"), "{text}\n{shown}");
    }
    // But what follows from the equation is refuted.
    answers(
        "(define-fun-rec h ((x Int)) Int (ite (< x 0) 0 (h (+ x 1)))) (assert (= (h (- 1)) 1))",
        "unsat",
    );
}

// ---- goals ----

#[test]
fn goals() {
    for (goal, expected) in [
        (
            "(forall ((x L) (y L) (z L)) (= (app (app x y) z) (app x (app y z))))",
            "unsat",
        ),
        (
            "(forall ((x L) (y L)) (= (len (app x y)) (+ (len x) (len y))))",
            "unsat",
        ),
        (
            "(forall ((x L)) (forall ((n Int)) (=> (mem n x) (> (len x) 0))))",
            "unsat",
        ),
        ("(forall ((x L) (y L)) (= (app x y) (app y x)))", "sat"),
        (
            "(forall ((n Int) (x L)) (=> (> (len x) 1) (mem n x)))",
            "sat",
        ),
    ] {
        for text in [
            format!("{LISTS}(assert (not {goal}))"),
            format!("{LISTS}(assert (! (not {goal}) :named goal))"),
        ] {
            let problem = read(&text);
            assert_eq!(problem.dialect, Dialect::Goal);
            answers(&text, expected);
        }
    }
    answers(
        &format!("{LISTS}(assert (exists ((x L)) (= (len x) 2)))"),
        "sat",
    );
    answers(
        &format!("{LISTS}(assert (exists ((x L)) (< (len x) 0)))"),
        "unsat",
    );
}

#[test]
fn a_counterexample_needs_functions_that_exist() {
    let text = format!("{LISTS}(assert (not (forall ((x L) (y L)) (= (app x y) (app y x)))))");
    let shown = answers(&text, "sat");
    assert!(shown.contains("; measure app (0)"), "{shown}");
    let without = shown.replace("; measure app (0)", ";");
    let outcome = judge(&text, &without);
    assert!(
        matches!(outcome, Some(CheckOutcome::Invalid(_))),
        "{outcome:?}"
    );
    let wrong = shown.replace("; measure app (0)", "; measure app (1)");
    let outcome = judge(&text, &wrong);
    assert!(
        matches!(outcome, Some(CheckOutcome::Invalid(_))),
        "{outcome:?}"
    );
    // As a refutation of the other question it does not count.
    let other = text.replace("(assert (not (forall", "(assert (and (forall");
    assert_ne!(judge(&other, &shown), Some(CheckOutcome::Valid));
}

// ---- broken witnesses ----

/// A witness of a text is none of the same text after a change that changes its meaning.
#[test]
fn witnesses_are_about_their_text() {
    let refuted = format!(
        "{LISTS}(declare-fun p (L) Bool) (assert (p (cons 1 (cons 2 nil))))
         (assert (forall ((t L)) (=> (p t) (< (len t) 2))))"
    );
    let model = format!(
        "{EVEN} (declare-fun p (Int) Bool) (assert (p 4))
         (assert (forall ((x Int)) (=> (p x) (ev x))))"
    );
    for (text, expected, changes) in [
        (
            refuted.as_str(),
            "unsat",
            &[
                ("(+ 1 (len", "(+ 0 (len"),
                ("(cons 2 nil)", "nil"),
                ("(len t) 2)", "(len t) 3)"),
                ("((_ is nil) x) 0", "((_ is nil) x) 1"),
            ][..],
        ),
        (
            model.as_str(),
            "sat",
            &[
                ("(<= n 0) true", "(<= n 0) false"),
                ("(od (- n 1))", "(od (+ n 1))"),
                ("(ite (<= n 0) false (ev (- n 1)))", "(not (ev n))"),
                ("(p 4)", "(p 5)"),
                ("(=> (p x) (ev x))", "(=> (p x) (od x))"),
            ][..],
        ),
    ] {
        let shown = answers(text, expected);
        for (from, to) in changes {
            let changed = text.replace(from, to);
            assert_ne!(&changed, text);
            let outcome = judge(&changed, &shown);
            assert!(
                outcome != Some(CheckOutcome::Valid),
                "{from} to {to}\n{shown}"
            );
        }
    }
}

#[test]
fn changed_witnesses_are_refused() {
    let text = format!(
        "{LISTS}(declare-fun p (L Int) Bool) (assert (p nil 0))
         (assert (forall ((h Int) (t L) (n Int)) (=> (p t n) (p (cons h t) (+ n 1)))))
         (assert (forall ((t L) (n Int)) (=> (p t n) (= n (len t)))))"
    );
    let model = "(\n(define-fun p ((x L) (n Int)) Bool (= n (len x)))\n)
; measure len (0)\n; measure app (0)\n; measure mem (1)\n";
    assert_eq!(judge(&text, model), Some(CheckOutcome::Valid));
    for (from, to, message) in [
        (
            "; measure len (0)\n",
            "",
            "function len: it is recursive and has no measure",
        ),
        (
            "app (0)",
            "app (1)",
            "function app: a call of app whose arguments do not become smaller",
        ),
        ("(= n (len x))", "(>= n 0)", "does not hold"),
        // A model may define the functions itself, but all of them, and so that their equations hold.
        (
            "(define-fun p",
            "(define-fun len ((x L)) Int 0) (define-fun p",
            "app is not defined",
        ),
        (
            "(define-fun p",
            "(define-fun len ((x L)) Int 0) (define-fun app ((x L) (y L)) L y)
             (define-fun mem ((n Int) (x L)) Bool false) (define-fun p",
            "the define-fun-rec in line 2 does not hold",
        ),
        (
            "(define-fun p",
            "(define-fun-rec q! ((x L)) Bool (not (q! x))) (define-fun p",
            "function q!: it is recursive and has no measure",
        ),
    ] {
        let mut changed = model.replace(from, to);
        assert_ne!(changed, model);
        if changed.contains("define-fun len") {
            changed.truncate(changed.find("; measure").unwrap_or(changed.len()));
        }
        match judge(&text, &changed) {
            Some(CheckOutcome::Invalid(found)) if found.contains(message) => {}
            outcome => panic!("{outcome:?}, expected: {message}\n{changed}"),
        }
    }
}

// ---- planted and random functions ----

/// The value of a random function at a number, from its parts: `f(n) = base` for `n ≤ 0`, else
/// `factor · f(n − step) + n · slope + shift`.
fn value(parts: &[i64; 5], n: i64) -> i64 {
    let [base, factor, step, slope, shift] = *parts;
    match n {
        ..=0 => base,
        _ => factor * value(parts, n - step) + n * slope + shift,
    }
}

#[test]
fn random_functions_have_their_values() {
    let mut random = Random::new(7);
    for _ in 0..12 {
        let mut pick = |low: i64, high: i64| low + random.below((high - low) as usize) as i64;
        let parts = [
            pick(-3, 4),
            pick(-2, 3),
            pick(1, 4),
            pick(-2, 3),
            pick(-3, 4),
        ];
        let n = pick(-2, 6);
        let expected = value(&parts, n);
        let [base, factor, step, slope, shift] = parts.map(literal);
        let functions = format!(
            "(define-fun-rec f ((n Int)) Int (ite (<= n 0) {base}
                (+ (* {factor} (f (- n {step}))) (* n {slope}) {shift})))"
        );
        let n = literal(n);
        for (claimed, answer) in [(expected, "sat"), (expected + 1, "unsat")] {
            let claimed = literal(claimed);
            answers(
                &format!("{functions} (assert (= (f {n}) {claimed}))"),
                answer,
            );
        }
        let expected = literal(expected);
        answers(
            &format!(
                "{functions} (declare-fun p (Int) Bool) (assert (p (f {n})))
                 (assert (forall ((x Int)) (=> (p x) (distinct x {expected}))))"
            ),
            "unsat",
        );
    }
}

fn literal(value: i64) -> String {
    match value {
        0.. => value.to_string(),
        _ => format!("(- {})", -value),
    }
}

/// Tasks whose relation is a function keep their status with the function in its place.
#[test]
fn relations_that_are_functions_keep_their_status() {
    let relation = "(declare-fun sum (Int Int) Bool)
        (assert (forall ((n Int)) (=> (<= n 0) (sum n 0))))
        (assert (forall ((n Int) (s Int)) (=> (and (> n 0) (sum (- n 1) s)) (sum n (+ n s)))))\n";
    let function = "(define-fun-rec sum ((n Int)) Int (ite (<= n 0) 0 (+ n (sum (- n 1)))))\n";
    for (bound, expected) in [
        ("(>= s 0)", "sat"),
        ("(>= s n)", "sat"),
        ("(< s 10)", "unsat"),
    ] {
        let as_relation = format!("(assert (forall ((n Int) (s Int)) (=> (sum n s) {bound})))");
        let as_function = as_relation.replace("(sum n s)", "(= s (sum n))");
        let problem = read(&format!("{relation}{as_relation}"));
        let word = printed(&problem, &answer(&problem), ProofFormat::Text);
        assert!(word.starts_with(expected), "{bound}: {word}");
        answers(&format!("{function}{as_function}"), expected);
    }
}

/// A time limit does not turn into an answer.
#[test]
fn no_time_no_answer() {
    let text = format!("{LISTS}(assert (forall ((x L)) (>= (len x) 0)))");
    let problem = read(&text);
    let mut cx = context(&problem);
    cx.budget = Budget::time(&cx.budget, std::time::Duration::ZERO);
    let answer = solve(&problem, &Config::default(), &mut cx).expect("a configuration");
    assert!(answer.reason().is_some());
}
