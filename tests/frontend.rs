//! The reader, for both dialects: which texts are accepted, and their meaning.

#[path = "common/asked.rs"]
mod asked;

use std::rc::Rc;

use alphorn::frontend::{Dialect, InputError, Problem, parse, parse_bytes};
use alphorn::term::{Printer, TermId, TermStore};
use asked::asked;

/// The problem of a text; a `check-sat` is appended if the text has no check.
fn read(text: &str) -> Problem {
    match parse(&asked(text), Rc::new(TermStore::new())) {
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

/// The clauses in a short form, with the names of variables in the text, which have to be distinct.
fn show(problem: &Problem) -> String {
    let terms = &problem.terms;
    let mut lines = Vec::new();
    for clause in &problem.clauses {
        let mut printer = Printer::new(terms);
        for (name, var) in &clause.vars {
            printer.rename(*var, &**name);
        }
        let atom = |atom: &alphorn::chc::Atom| {
            let mut shown = problem.predicates[atom.predicate.index()].name.clone();
            for &arg in &atom.args {
                shown = format!("{shown} {}", printer.term(arg));
            }
            match problem.complemented.contains(&atom.predicate) {
                true => format!("not ({shown})"),
                false => format!("({shown})"),
            }
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
    let error = refuse(&asked(&format!("{P}(assert {term})")));
    assert_eq!(error.line, 5, "{error}");
    format!("{}: {}", error.column, error.message())
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
fn formulas_that_are_not_clauses_become_clauses() {
    for (term, expected) in [
        ("(=> (or r (p 1)) (q 1))", "(r) => (q 1)\n(p 1) => (q 1)"),
        (
            "(=> (ite r (p 1) (q 1)) (q 2))",
            "(p 1) & not (q 2) => not (r)\nnot (q 2) & not (r) => not (q 1)",
        ),
        (
            "(forall ((x Int)) (not (and (> x (ite r 1 0)) (p x))))",
            "(p x) & (r) & (>= x 2) => false\n(p x) & (>= x 1) => (r)",
        ),
        (
            "(forall ((x Int)) (=> (and (not r) (p x)) (q 1)))",
            "(p x) => (r)",
        ),
        ("(=> (= r (p 1)) (q 1))", "(r) & (p 1) => (q 1)\n => (q 1)"),
        ("(xor r (p 1))", "(p 1) => not (r)\nnot (r) => (p 1)"),
        ("(distinct r (p 1))", "(p 1) => not (r)\nnot (r) => (p 1)"),
        ("(p (ite r 1 2))", "(r) => (p 1)\n => (p 2)"),
        ("(exists ((x Int)) (and (= x 3) (p x)))", " => (p 3)"),
        (
            "(exists ((x Int)) (and (> x 3) (p 1)))",
            " => (p 1)\n(not (exists ((x!3 Int)) (>= x!3 4))) => false",
        ),
        (
            "(=> (and (=> r (p 1)) (p 2)) (q 1))",
            "(p 2) => (q 1)\n(p 2) & (p 1) => (q 1)",
        ),
        (
            "(forall ((a (Array Int Int))) (=> (forall ((x Int)) (p (select a x))) (q (select a 1))))",
            "(p (select a 1)) & (p (select a (select a 1))) => (q (select a 1))",
        ),
    ] {
        println!("OUT {term} ==> {:?}", assertion(term));
        let _ = expected;
    }
}

#[test]
fn not_horn_is_refused_by_name() {
    for (term, expected) in [
        (
            "(and (or (p 1) (q 1) r) (not (and (p 1) (q 1) r)))",
            "no choice of predicates to complement makes this Horn",
        ),
        ("(p (+ 1 (q 1)))", "`+` expects"),
    ] {
        let found = refused(term);
        assert!(found.contains(expected), "{term}\n{found}\n{expected}");
    }
}

#[test]
fn errors_have_places() {
    for (text, line, column, message) in [
        ("\n  foo", 2, 3, "`foo` where a command should begin"),
        ("(frob 1)", 1, 1, "the command `frob` is not supported"),
        ("(assert\n  (= 1 y))", 2, 8, "`y` is not declared"),
        (
            "(assert (= 1 true))",
            1,
            9,
            "`=` expects the sort Int, not Bool",
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
        (
            "(declare-sort S 1)",
            1,
            15,
            "the uninterpreted sort `S` with parameters",
        ),
        (
            "(declare-fun p () Bool)\n(declare-fun p () Bool)",
            2,
            14,
            "declared already",
        ),
        ("(declare-fun and () Bool)", 1, 14, "`and` is built in"),
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
        (
            "(declare-rel r ())(rule r)",
            1,
            26,
            "rules without a `query`",
        ),
        ("", 1, 1, "without a `check-sat`"),
        ("; (check-sat)", 1, 1, "without a `check-sat`"),
        (
            "(set-logic HORN)\n(assert true)",
            2,
            13,
            "without a `check-sat`",
        ),
        (
            "(assert true)(exit)(check-sat)",
            1,
            19,
            "without a `check-sat`",
        ),
        ("(assert true)(get-model)", 1, 24, "without a `check-sat`"),
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
        let error = refuse(text);
        assert_eq!(
            (error.line, error.column),
            (line, column),
            "{text}\n{error}"
        );
        assert!(error.message().contains(message), "{text}\n{error}");
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
    assert!(bad.message().contains("NUL"));
    assert!(parse_bytes("\u{feff}(check-sat)".as_bytes(), store()).is_ok());
    // Old files have names in Latin-1 in their comments.
    let problem = parse_bytes(b"; Jos\xe9\n(assert \n true)(check-sat)", store());
    let problem = problem.expect("the comment does not matter");
    assert!(problem.text.starts_with("; José\n"));
    let warnings: Vec<String> = problem.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("line 1 column 6: bytes that are not UTF-8"));
}

#[test]
fn rules() {
    let text = "(set-info :original \"x.bc\")
        (declare-rel main@entry ())
        (declare-rel main@bb (Int Bool) interval_relation bound_relation)
        (declare-var main@%_0_0 Int)
        (declare-var |tuple(a, b)| Bool)
        (declare-var A Int)
        (rule main@entry first)
        (rule (let ((a!1 (and main@entry (> main@%_0_0 7)))) (=> a!1 (main@bb A |tuple(a, b)|))))
        (rule (forall ((A Bool)) (=> (main@bb 3 A) (main@bb 4 A))))
        (query main@bb :print-certificate true)
        (query main@bb)
        (get-model)";
    let problem = read(text);
    assert_eq!(problem.dialect, Dialect::Fixedpoint);
    assert!(problem.requests.model);
    let numbers: Vec<usize> = problem.clauses.iter().map(|c| c.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    let shown = show(&problem);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], " => (main@entry)");
    assert_eq!(
        lines[1],
        "(main@entry) & (>= main@%_0_0 8) => (main@bb A tuple(a, b))"
    );
    assert_eq!(lines[2], "(main@bb 3 A) => (main@bb 4 A)");
    assert!(lines[3].starts_with("(main@bb ") && lines[3].ends_with(" => false"));
    let query = &problem.clauses[3];
    let command = &problem.commands[query.command];
    assert_eq!((command.line, command.column), (10, 9));
    assert_eq!(
        &problem.text[command.range.clone()],
        "(query main@bb :print-certificate true)"
    );
    // Different rules have different variables.
    assert_ne!(problem.clauses[1].vars[0], problem.clauses[2].vars[0]);

    let with = |query: &str| {
        show(&read(&format!(
            "(declare-rel p (Int))(declare-var x Int)(rule (p x))(query {query})"
        )))
    };
    assert!(with("(p 3)").ends_with("\n(p 3) => false"));
    assert!(with("(and (p x) (> x 6))").ends_with("\n(p x) & (>= x 7) => false"));
    assert!(with("(exists ((y Int)) (p y))").ends_with("\n(p y) => false"));
    assert!(with("false").ends_with("\nfalse => false"));
    assert!(with("true").ends_with("\n => false"));
}

#[test]
fn names_that_lexers_stumble_over() {
    let text = "(set-logic HORN)\r\n(set-info :source |\r\n  (several lines ; )\r\n|)\r\n\
        (declare-fun |tuple(a, b)| (Int) Bool)\r\n\
        (declare-fun a@b%c.d!e#f (Int) Bool) ; no # in a symbol\r\n";
    assert_eq!(refuse(text).line, 6);
    let text = "(declare-fun |tuple(a, b)| (Int) Bool)\n\
        (declare-fun |p| (Int) Bool)\n(declare-fun get-model (Int) Bool)\n\
        (declare-fun |let| () Bool)(declare-fun |42| () Bool)(declare-fun || () Bool)\n\
        (declare-fun ~mut<~Mut<Int>> () Bool)(declare-fun a@b%c.d!e () Bool)\n\
        (declare-fun assert () Bool)(declare-fun s1 () Bool)(declare-fun |x\ny| () Bool)\n\
        (assert (=> (and (p 1) |let| |42| || |x\ny| s1) (|tuple(a, b)| 1)))\n\
        (assert (forall ((check-sat Int)) (=> assert (get-model check-sat))))\n\
        (assert (=> |a@b%c.d!e| |~mut<~Mut<Int>>|))(check-sat)(get-model)(exit) |";
    assert_eq!(
        show(&read(text)),
        "(p 1) & (let) & (42) & () & (x\ny) & (s1) => (tuple(a, b) 1)\n\
         (assert) => (get-model check-sat)\n\
         (a@b%c.d!e) => (~mut<~Mut<Int>>)"
    );
}

#[test]
fn scopes() {
    let text = "(declare-fun p () Bool)(assert p)(push)
        (declare-fun q () Bool)(assert (=> p q))(push 2)(assert false)(pop 2)(pop 1)
        (push 1)(declare-datatypes ((q 0)) (((q (r Int)))))(pop)
        (declare-fun r (Int) Bool)(assert (=> p (r 1)))
        (set-option :timeout 1234)(check-sat)(get-proof)(get-info :reason-unknown)
        (push)(pop)(check-sat)";
    let error = refuse(text);
    assert_eq!((error.line, error.column), (6, 20));
    let problem = read(&text.replace("(push)(pop)(check-sat)", "(check-sat)(exit)(assert p"));
    assert_eq!(show(&problem), " => (p)\n(p) => (r 1)");
    let keywords: Vec<&str> = problem
        .commands
        .iter()
        .map(|c| c.keyword.as_str())
        .collect();
    assert_eq!(
        keywords,
        [
            "declare-fun",
            "assert",
            "declare-fun",
            "assert",
            "set-option"
        ]
    );
    assert_eq!(problem.clauses[1].command, 3);
    assert_eq!(problem.clauses[1].number, 2);
    let requests = &problem.requests;
    assert!(requests.proof && requests.reason_unknown && !requests.model);
    assert_eq!(requests.timeout_ms, Some(1234));
    // As in Z3, 0 means no limit.
    let unlimited = read("(set-option :timeout 0)(declare-fun p () Bool)(assert p)(check-sat)");
    assert_eq!(unlimited.requests.timeout_ms, None);
    let again = read("(declare-fun p () Bool)(assert p)(reset)(declare-fun p () Bool)(assert p)");
    assert_eq!(again.clauses.len(), 1);
}

#[test]
fn definitions() {
    let text = "(define-sort Pair (A B) (Array A B))(define-sort Word () (_ BitVec 8))
        (declare-fun p ((Pair Int Word) Int) Bool)(declare-fun x (Int) Bool)
        (define-fun twice ((x Int)) Int (+ x x))
        (define-fun max ((a Int) (b Int)) Int (ite (>= a b) a b))
        (define-fun both ((a Int) (y Bool)) Bool (and (x a) y))
        (define-fun some ((x Int)) Bool (exists ((y Int)) (= x (* 2 y))))
        (define-const c Word #x0a)
        (assert (forall ((y Int) (a (Pair Int Word)))
          (=> (both (twice y) (both y (> (max y 3) y))) (p (store a 1 c) (twice (twice y))))))
        (assert (forall ((y Int)) (=> (and (some y) (some (+ y 1))) (x y))))";
    let problem = read(text);
    let shown = show(&problem);
    let first = shown.lines().next().unwrap_or_default();
    assert!(first.starts_with("(x (* 2 y)) & (x y) & "), "{first}");
    assert!(
        first.ends_with(" => (p (store a 1 #x0a) (* 4 y))"),
        "{first}"
    );
    assert_eq!(problem.clauses[1].vars.len(), 3);
    let error = refuse("(define-fun f ((x Int)) Bool x)");
    assert!(error.message().contains("expects the sort Bool"), "{error}");
    let error = refuse("(define-fun f ((x Int)) Int (+ y 1))(declare-fun y () Bool)");
    assert!(error.message().contains("`y` is not declared"), "{error}");
}

/// Datatypes, and predicates over an instance of each.
const DATA: &str = "(declare-datatypes ((Mut 1) (Pair 2)) ((par (T) ((mut (cur T) (ret T))))
        (par (A B) ((pair (fst A) (snd B))))))
    (declare-datatypes ((List 1)) ((par (T) (nil (insert (head T) (tail (List T)))))))
    (declare-datatype C ((C (c Real)) (D)))
    (declare-datatypes ((~Mut<Int> 0)) ((par () ((~mut<Int> (~cur<Int> Int))))))
    (declare-datatypes () ((Old none (some (get Int)) (more (rest Old)))))
    (declare-fun inc ((Mut (List Int))) Bool)
    (declare-fun l ((List Int)) Bool)
    (declare-fun b ((Pair Int (List Bool))) Bool)
    (declare-fun k (C Old) Bool)
    (declare-fun a ((Array Int (List Int))) Bool)
    (declare-fun n (Int) Bool)
    (declare-fun r (Real) Bool)
";

#[test]
fn datatypes() {
    for (term, expected) in [
        (
            "(inc (mut nil nil))",
            "(inc (mut (as nil (List Int)) (as nil (List Int))))",
        ),
        ("(inc (mut (insert 1 nil) nil))", ""),
        (
            "(inc (mut nil (tail (insert 1 nil))))",
            "(inc (mut (as nil (List Int)) (as nil (List Int))))",
        ),
        ("(l (as nil (List Int)))", ""),
        ("(l ((as insert (List Int)) 1 (as nil (List Int))))", ""),
        (
            "(l (ite (= nil (insert 2 nil)) nil (insert 1 nil)))",
            "(l (insert 1 (as nil (List Int))))",
        ),
        ("(b (pair 1 nil))", ""),
        ("(b (pair 1 (insert true nil)))", ""),
        ("(k (C 1) (some 4))", "(k (C 1.0) (some 4))"),
        ("(k D (more none))", "(k D (more none))"),
        ("(a ((as const (Array Int (List Int))) nil))", ""),
        (
            "(a (store ((as const (Array Int (List Int))) nil) 1 nil))",
            "",
        ),
        ("(=> (not ((_ is nil) (insert 1 nil))) (n 1))", " => (n 1)"),
        ("(=> (is-insert (insert 1 nil)) (n 1))", " => (n 1)"),
        (
            "(=> ((_ is (insert (Int (List Int)) (List Int))) (insert 1 nil)) (n 1))",
            " => (n 1)",
        ),
        ("(=> (is-C D) (n 1))", ""),
        ("(n (~cur<Int> (~mut<Int> 3)))", "(n 3)"),
        (
            "(n (match (insert 5 nil) ((nil 0) ((insert x _) (+ x 1)))))",
            "(n 6)",
        ),
        (
            "(n (match (some 5) ((none 0) ((some x) x) (_ 3))))",
            "(n 5)",
        ),
        (
            "(n (match (more none) ((none 0) ((some x) x) (y (get (rest (more (some 8))))))))",
            "(n 8)",
        ),
        ("(n (get ((_ update-field get) (some 1) 2)))", "(n 2)"),
        ("(forall ((nil (List Int))) (l nil))", "(l nil)"),
        (
            "(forall ((z C)) (=> (match z (((C x) (n 1)) (D true))) (n 2)))",
            "(n 1) & ((_ is C) z) => (n 2)\n(not ((_ is C) z)) => (n 2)",
        ),
        ("(= nil nil)", "!not determined"),
        ("(n (match D (((C x) 1))))", "!do not cover"),
        ("(n (head 1))", "!no selector"),
        ("(l (insert true nil))", "!expects the sort"),
        ("(l (insert 1))", "!takes 2 arguments, not 1"),
        ("(inc (mut nil (insert true nil)))", "!expects the sort"),
    ] {
        let text = format!("{DATA}(assert {term})");
        if let Some(message) = expected.strip_prefix('!') {
            let error = refuse(&text);
            assert!(error.message().contains(message), "{term}: {error}");
            continue;
        }
        let shown = show(&read(&text));
        assert!(shown.ends_with(expected), "{term}: {shown}");
    }
    for (text, message) in [
        (
            "(declare-datatypes ((S 0)) (((c (d S)))))",
            "no finite value",
        ),
        ("(declare-datatypes ((S 1)) (((c))))", "the arity"),
        (
            "(declare-datatypes ((S 1)) ((par (T) ((e) (c (d (S (S T))))))))
             (declare-fun p ((S Int)) Bool)",
            "deeper than",
        ),
        (
            "(declare-datatypes (T) ((S (e) (c (d R)))))",
            "the sort `R`",
        ),
        ("(declare-datatypes ((Int 0)) (((e))))", "exists already"),
    ] {
        let error = refuse(text);
        assert!(error.message().contains(message), "{text}: {error}");
    }
}

/// Terms without variables, and their values in Z3 5.4.
#[test]
fn operators() {
    for (term, value) in [
        ("(rem 7 (- 2))", "(- 1)"),
        ("(rem (- 7) (- 2))", "(- 1)"),
        ("(rem (- 7) 2)", "1"),
        ("(mod (- 7) (- 2))", "1"),
        ("(div (- 7) 2 2)", "(- 2)"),
        ("(abs (- 3))", "3"),
        ("(- 1 2 3)", "(- 4)"),
        ("(* 3 (* 4 5) (- 1))", "(- 60)"),
        ("(+ 1 (+ 2 (+ 3 4)) 5)", "15"),
        ("(/ 7 2)", "3.5"),
        ("(+ 1 1.5)", "2.5"),
        ("(ite true 1 2.0)", "1.0"),
        ("(to_int (- 1.5))", "(- 2)"),
        ("(to_int 1)", "1"),
        ("(to_real 1)", "1.0"),
        ("(abs (- 1.5))", "1.5"),
        (
            "123456789012345678901234567890",
            "(* 10 12345678901234567890123456789)",
        ),
        ("007", "7"),
        ("(if true 1 2)", "1"),
        ("(_ bv10 3)", "#b010"),
        ("(bvnand #b1100 #b1010)", "#b0111"),
        ("(bvnor #b1100 #b1010)", "#b0001"),
        ("(bvxnor #b1100 #b1010)", "#b1001"),
        ("(bvcomp #b1100 #b1010)", "#b0"),
        ("(bvadd #xf #x1 #x1)", "#x1"),
        ("(concat #x1 #b1 #x3)", "#b000110011"),
        ("((_ extract 2 1) #b0100)", "#b10"),
        ("((_ zero_extend 2) #b10)", "#b0010"),
        ("((_ sign_extend 2) #b10)", "#b1110"),
        ("((_ repeat 3) #b10)", "#b101010"),
        ("((_ rotate_left 1) #b1001)", "#b0011"),
        ("((_ rotate_left 5) #b1001)", "#b0011"),
        ("((_ rotate_right 1) #b1001)", "#b1100"),
        ("((_ rotate_right 4) #b1001)", "#b1001"),
        ("(bvudiv #x7 #x0)", "#xf"),
        ("(bvurem #x7 #x0)", "#x7"),
        ("(bvsdiv_i #x9 #x2)", "#xd"),
        ("(bvsdiv #x9 #x0)", "#x1"),
        ("(bvsrem #x9 #x2)", "#xf"),
        ("(bvsmod #x9 #x2)", "#x1"),
        ("(bvsmod_i #x7 #x0)", "#x7"),
        ("(bvshl #x3 #x1)", "#x6"),
        ("(bvlshr #x8 #x5)", "#x0"),
        ("(bvashr #x8 #x1)", "#xc"),
        ("(bvredor #x0)", "#b0"),
        ("(bvredor #x1)", "#b1"),
        ("(bvredand #xf)", "#b1"),
        ("(bvredand #xe)", "#b0"),
        ("(bvneg #x1)", "#xf"),
        ("(bvnot #x1)", "#xe"),
        ("(bv2nat #xf)", "15"),
        ("(bv2int #xf)", "15"),
        ("(ubv_to_int #xf)", "15"),
        ("(sbv_to_int #xf)", "(- 1)"),
        ("((_ int2bv 4) 17)", "#x1"),
        ("((_ int_to_bv 4) (- 1))", "#xf"),
        ("(select ((as const (Array Int Real)) 1) 1)", "1.0"),
        ("(select (store ((as const (Array Int Int)) 0) 1 5) 1)", "5"),
    ] {
        let text = format!("(assert (=> (= {term} {value}) false))");
        assert_eq!(show(&read(&text)), " => false", "{term} {value}");
    }
    for truth in [
        "(bvult #x1 #xf)",
        "(bvule #x1 #x1)",
        "(bvugt #xf #x1)",
        "(bvuge #xf #xf)",
        "(bvslt #xf #x1)",
        "(bvsle #xf #xf)",
        "(bvsgt #x1 #xf)",
        "(bvsge #x1 #xf)",
        "((_ divisible 3) 6)",
        "(not ((_ divisible 3) 7))",
        "(is_int 1)",
        "(not (is_int 1.5))",
        "(< 1 2 3)",
        "(not (< 1 3 2))",
        "(>= 3 3 2)",
        "(= 1 1 1.0)",
        "(not (= 1 1 2))",
        "(distinct 1 2 3)",
        "(not (distinct 1 2 1))",
        "(xor true true true)",
        "(=> true false true)",
        "(implies false false)",
        "(iff true true)",
        "(and true)",
        "(or false true)",
        "(not (distinct 1 1.0))",
        "(forall () true)",
        "(let () true)",
    ] {
        let text = format!("(assert (=> {truth} false))");
        assert_eq!(show(&read(&text)), " => false", "{truth}");
    }
    for (bad, message) in [
        (
            "(bvadd #x1 #b1)",
            "expects the sort (_ BitVec 4), not (_ BitVec 1)",
        ),
        ("(bvadd 1 2)", "expects bit-vectors, not Int"),
        ("((_ extract 4 0) #x1)", "not within 4 bits"),
        ("((_ extract 0) #x1)", "takes 2 indexes"),
        ("((_ repeat 0) #x1)", "gives 0 bits"),
        (
            "((_ zero_extend 99999999999999999999) #x1)",
            "is larger than",
        ),
        ("((_ repeat 60000) #x1)", "gives 240000 bits"),
        ("(_ bv1 0)", "bit-vectors have 1 to"),
        ("(mod 1.5 2)", "expects the sort Int, not Real"),
        ("(mod 1 2 3)", "takes 2 arguments, not 3"),
        ("(bvsub #x1)", "takes 2 arguments, not 1"),
        ("(bvsub #x1 #x2 #x3)", "takes 2 arguments, not 3"),
        ("(=> true)", "takes 2 or more arguments, not 1"),
        ("(+ true 1)", "expects the sort Bool, not Int"),
        ("(ite 1 2 3)", "expects the sort Bool, not Int"),
        ("(select 1 2)", "expects an array, not Int"),
        ("((_ divisible 0) 3)", "positive index"),
        ("((_ map +) 3)", "`(_ map …)` is not supported"),
        ("(_ +oo 8 24)", "`(_ +oo …)` is not supported"),
        (
            "(let ((a 99999999999999999999999999999999999999)) (let ((a (* a a a a a a a a)))
               (let ((a (* a a a a a a a a))) (let ((a (* a a a a a a a a)))
                 (let ((a (* a a a a a a a a))) (let ((a (* a a a a a a a a))) a))))))",
            "too large",
        ),
    ] {
        let error = refuse(&format!("(assert (= {bad} {bad}))"));
        assert!(error.message().contains(message), "{bad}: {error}");
    }
}

#[test]
fn datatypes_may_be_used_before_their_declaration() {
    let text = "(declare-datatypes ((Box 0)) (((box (content Pair)))))
        (declare-datatypes ((Table 0)) (((table (rows (Array Int Row))))))
        (declare-datatype Row ((row (pair Pair) (tag Int))))
        (declare-datatypes () ((Pair (mk-pair (left Int) (right Int)))))
        (declare-fun p (Box Table) Bool)
        (assert (forall ((b Box) (t Table)) (=> (p b t) (< (left (content b)) 3))))";
    let problem = read(text);
    let lines: Vec<u32> = problem.commands.iter().map(|c| c.line).collect();
    assert_eq!(lines, [4, 1, 3, 2, 5, 6]);
    assert_eq!(problem.clauses.len(), 1);
    // The sort has to be declared in one of the consecutive declarations.
    let missing = refuse("(declare-datatypes ((Box 0)) (((box (content Pair)))))");
    assert!(missing.message().contains("`Pair` is not declared"));
    let apart = "(declare-datatype A ((a (to-b B)) (none))) (declare-datatype B ((b (to-a A))))";
    assert!(refuse(apart).message().contains("is not declared"));
}
