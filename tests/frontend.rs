//! Reading both dialects: what is accepted and what it means.

use std::rc::Rc;

use alphorn::frontend::{InputError, Problem, parse, parse_bytes};
use alphorn::term::{Printer, TermId, TermStore};

fn read(text: &str) -> Problem {
    match parse(text, Rc::new(TermStore::new())) {
        Ok(problem) => problem,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn refuse(text: &str) -> InputError {
    match parse(text, Rc::new(TermStore::new())) {
        Ok(problem) => panic!("read as\n{}", show(&problem)),
        Err(error) => error,
    }
}

/// The clauses in a short form with variables under the user's names, which tests keep distinct.
fn show(problem: &Problem) -> String {
    let terms = &problem.terms;
    let mut lines = Vec::new();
    for clause in &problem.clauses {
        let mut printer = Printer::new(terms);
        for (name, var) in &clause.vars {
            printer.rename(*var, name.clone());
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

const P: &str = "(set-logic HORN)\n(declare-fun p (Int) Bool)\n(declare-fun q (Int) Bool)\n\
                 (declare-fun r () Bool)\n";

/// The clauses of one assertion over p, q (of an Int) and r.
fn assertion(term: &str) -> String {
    show(&read(&format!("{P}(assert {term})")))
}

/// The error of one assertion on line 5.
fn refused(term: &str) -> String {
    let error = refuse(&format!("{P}(assert {term})"));
    assert_eq!(error.line, 5, "{error}");
    format!("{}: {}", error.column, error.message)
}

#[test]
fn clause_forms() {
    for (term, expected) in [
        ("r", " => (r)"),
        ("(p 1)", " => (p 1)"),
        ("(forall ((x Int)) (p x))", " => (p x)"),
        (
            "(forall ((x Int)) (=> (and (p x) (> x 0)) (q x)))",
            "(p x) & (>= x 1) => (q x)",
        ),
        (
            "(forall ((x Int)) (=> (p x) (forall ((y Int)) (=> (q y) (and (p y) (q x))))))",
            "(p x) & (q y) => (p y)\n(p x) & (q y) => (q x)",
        ),
        (
            "(forall ((x Int)) (or (not (p x)) (q x) (< x 3)))",
            "(p x) & (>= x 3) => (q x)",
        ),
        (
            "(not (exists ((x Int)) (and (p x) (q x))))",
            "(p x) & (q x) => false",
        ),
        (
            "(not (exists ((x Int)) (and (p x) (not (q x)))))",
            "(p x) => (q x)",
        ),
        ("(not (and r (p 1)))", "(r) & (p 1) => false"),
        ("(=> r (=> (p 1) (q 1)))", "(r) & (p 1) => (q 1)"),
        ("(=> r (p 1) (q 1))", "(r) & (p 1) => (q 1)"),
        ("(=> (exists ((x Int)) (p x)) r)", "(p x) => (r)"),
        ("(=> r false)", "(r) => false"),
        ("(=> r true)", ""),
        ("true", ""),
        ("(=> r (> 1 2))", "(r) => false"),
        (
            "(forall ((x Int)) (=> (p x) (> x 0)))",
            "(p x) & (<= x 0) => false",
        ),
        ("(and r (p 1))", " => (r)\n => (p 1)"),
        ("(and (=> (and r) (p 1)))", "(r) => (p 1)"),
        ("(=> (not (or (not r) false)) (p 1))", "(r) => (p 1)"),
        ("(=> (or false r) (p 1))", "(r) => (p 1)"),
        (
            "(forall ((x Int)) (=> r (ite (> x 0) (p x) (q x))))",
            "(r) & (>= x 1) => (p x)\n(r) & (<= x 0) => (q x)",
        ),
        ("(= r (p 1))", "(r) => (p 1)\n(p 1) => (r)"),
        ("(= (p 1) true)", " => (p 1)"),
        (
            "(let ((b (p 1))) (=> (let ((b r) (c b)) (and b c)) (q 1)))",
            "(r) & (p 1) => (q 1)",
        ),
        (
            "(forall ((r Bool) (x Int)) (=> (and r (p x)) (q x)))",
            "(p x) & r => (q x)",
        ),
        ("(forall ((p Int)) (=> (p p) (q p)))", "(p p) => (q p)"),
        (
            "(forall () (=> (! (p 1) :pattern ((f _ let))) (! (q 1) :named a)))",
            "(p 1) => (q 1)",
        ),
        (
            "(forall ((x Int)) (=> (and (p x) (or (= x 1) (not (= x 2)))) (q x)))",
            "(p x) & (or (= x 1) (not (= x 2))) => (q x)",
        ),
        (
            "(=> (and (let ((x r)) (and x x)) r) (p 1))",
            "(r) & (r) => (p 1)",
        ),
        (
            "(=> (not (=> r (exists ((x Int)) (> x 7)))) (p 1))",
            "(r) & (not (exists ((x!2 Int)) (>= x!2 8))) => (p 1)",
        ),
        (
            "(=> (not (=> r (forall ((x Int)) (> x 7)))) (p 1))",
            "(r) & (<= x 7) => (p 1)",
        ),
    ] {
        assert_eq!(assertion(term), expected, "{term}");
    }
}

#[test]
fn not_horn_is_refused_by_name() {
    for (term, expected) in [
        ("(or r (p 1))", "15: a second positive predicate"),
        (
            "(=> (or r (p 1)) (q 1))",
            "13: a disjunction over predicates",
        ),
        ("(=> (not r) (p 1))", "a second positive predicate"),
        ("(exists ((x Int)) (p x))", "9: `exists` over a predicate"),
        (
            "(=> (forall ((x Int)) (p x)) r)",
            "13: `forall` over predicates",
        ),
        ("(=> (ite r (p 1) (q 1)) r)", "13: `ite` over predicates"),
        ("(ite r (p 1) (q 1))", "9: `ite` on a predicate"),
        ("(=> (= r (p 1)) (q 1))", "13: `=` over predicates"),
        ("(xor r (p 1))", "14: a predicate inside `xor`"),
        ("(p (ite r 1 2))", "17: the predicate `r` inside `ite`"),
        ("(p (+ 1 (q 1)))", "17: the predicate `q` inside `+`"),
        ("(distinct r (p 1))", "a predicate inside `distinct`"),
    ] {
        let found = refused(term);
        assert!(found.contains(expected), "{term}\n{found}\n{expected}");
    }
}

#[test]
fn errors_have_places() {
    for (text, line, column, message) in [
        ("", 1, 1, ""),
        ("\n  foo", 2, 3, "`foo` where a command should begin"),
        ("(frob 1)", 1, 1, "the command `frob` is not supported"),
        ("(assert\n  (= 1 y))", 2, 8, "`y` is not declared"),
        (
            "(assert (= 1 true))",
            1,
            9,
            "`=` expects the sort Int here, not Bool",
        ),
        (
            "(assert (and true 3))",
            1,
            9,
            "`and` expects the sort Bool, not Int",
        ),
        ("(assert ((x) 1))", 1, 11, "unexpected `x` in `assert`"),
        (
            "(assert true false)",
            1,
            14,
            "unexpected `false` in `assert`",
        ),
        ("(assert)", 1, 8, "`assert` ends too early"),
        ("(assert 5)", 1, 9, "a term of sort Bool is expected here"),
        ("(declare-fun p (Foo) Bool)", 1, 17, "the sort `Foo`"),
        ("(declare-sort S 0)", 1, 1, "the uninterpreted sort `S`"),
        (
            "(declare-fun f (Int) Int)\n(assert (= 0 (f 1)))",
            2,
            15,
            "`f` is neither",
        ),
        (
            "(declare-const c Int)(assert (= c 1))",
            1,
            33,
            "`c` is neither",
        ),
        (
            "(declare-fun p () Bool)\n(declare-fun p () Bool)",
            2,
            14,
            "declared already",
        ),
        ("(declare-fun and () Bool)", 1, 14, "`and` is built in"),
        (
            "(define-fun-rec f ((x Int)) Int x)",
            1,
            1,
            "`define-fun-rec` is not supported",
        ),
        (
            "(check-sat-assuming ())",
            1,
            1,
            "`check-sat-assuming` is not supported",
        ),
        (
            "(assert (lambda ((x Int)) x))",
            1,
            9,
            "`lambda` is not supported",
        ),
        (
            "(assert (= \"a\" \"b\"))",
            1,
            12,
            "strings are not supported",
        ),
        (
            "(assert (bvumul_noovfl #x1 #x2))",
            1,
            10,
            "`bvumul_noovfl` is not declared",
        ),
        (
            "(assert (let ((x 1) (x 2)) true))",
            1,
            22,
            "`x` is bound twice",
        ),
        (
            "(assert (forall ((x (Array Int))) true))",
            1,
            22,
            "takes 2 arguments, not 1",
        ),
        (
            "(assert (forall ((x (_ BitVec 0))) true))",
            1,
            24,
            "BitVec takes one width",
        ),
        ("(pop)", 1, 1, "`pop` without"),
        ("; é\n(assert true) é", 2, 15, "starts no token"),
        ("(rule r)", 1, 1, "rules without a `query`"),
        (
            "(declare-rel p ())(assert p)(query p)",
            1,
            19,
            "`assert` in a file of rules",
        ),
        (
            "(declare-fun p () Bool)(assert p)(check-sat)(assert p)(check-sat)",
            1,
            55,
            "a second",
        ),
    ] {
        if message.is_empty() {
            assert!(read(text).clauses.is_empty());
            continue;
        }
        let error = refuse(text);
        assert_eq!(
            (error.line, error.column),
            (line, column),
            "{text}\n{error}"
        );
        assert!(error.message.contains(message), "{text}\n{error}");
        assert!(
            error
                .to_string()
                .starts_with(&format!("line {line} column {column}: "))
        );
    }
}

#[test]
fn bytes_that_are_no_text() {
    let store = || Rc::new(TermStore::new());
    let bad = parse_bytes(b"(assert\n \xff)", store()).err().unwrap();
    assert_eq!((bad.line, bad.column), (2, 2));
    let bad = parse_bytes(b"\0\0\0\x01Bud1\0", store()).err().unwrap();
    assert!(bad.message.contains("NUL"));
    assert!(parse_bytes("\u{feff}(check-sat)".as_bytes(), store()).is_ok());
}
