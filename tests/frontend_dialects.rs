//! Text that is not standard, or of other tools: what is read with a warning, and what is refused with
//! a message that says what to write instead.

// Helpers of tests.
#![allow(clippy::unwrap_used)]

#[path = "common/asked.rs"]
mod asked;

use std::rc::Rc;

use alphorn::frontend::{InputError, Options, Problem, parse, parse_with_options};
use alphorn::run::Context;
use alphorn::term::{Assignment, TermId, TermStore, evaluate};
use alphorn::witness::Wanted;
use alphorn::{Config, solve};
use asked::asked;

fn read(text: &str) -> Result<Problem, InputError> {
    parse(&asked(text), Rc::new(TermStore::new()))
}

fn warnings(problem: &Problem) -> Vec<String> {
    problem.warnings.iter().map(ToString::to_string).collect()
}

/// The checked answer, and the warnings.
fn answer(text: &str) -> (&'static str, Vec<String>) {
    let problem = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut cx = Context::new(problem.terms.clone());
    let answer = solve(&problem, &Config::default(), &mut cx).unwrap();
    assert_eq!(cx.stats.count("witness.failures"), 0, "{text}");
    let word = answer.output(&problem, Wanted::default()).word();
    (word, warnings(&problem))
}

const P: &str = "(set-logic HORN)\n(declare-fun p (Int) Bool)\n";

/// Text with one construct that is not standard: its answer, and its one warning.
#[test]
fn nonstandard_text_has_one_warning() {
    for (text, verdict, warning) in [
        (
            "(assert (p -3))\n(assert (p -4))\n(assert (not (p (- 0 4))))",
            "unsat",
            "line 3 column 12: `-3` is read as a number: write `(- 3)`",
        ),
        (
            "(declare-fun r (Real) Bool)(assert (r 1.))(assert (r 2.))
             (assert (forall ((x Real)) (=> (r x) (< x 1.5))))",
            "unsat",
            "line 3 column 39: `1.` is read as a decimal: write `1.0`",
        ),
        (
            "(assert (p (bv2int #xff)))(assert (not (p 255)))",
            "unsat",
            "line 3 column 13: `bv2int` is unsigned",
        ),
        (
            "(assert (p 0))(assert (not (p 1)))(check-sat-using (then simplify horn))",
            "sat",
            "line 3 column 35: `check-sat-using` is read as `check-sat`",
        ),
        (
            "(simplify (+ 1 2))(assert (p 0))",
            "sat",
            "line 3 column 1: `simplify` is no command of SMT-LIB",
        ),
        (
            "(set-info status sat)(assert (p 0))",
            "sat",
            "line 3 column 1: `set-info` without a keyword",
        ),
        (
            "(declare-sort Int 0)(declare-sort Int 0)(assert (p 0))",
            "sat",
            "line 3 column 15: `Int` is built in: its declaration is ignored",
        ),
        (
            "(define-sort Bool () Bool)(assert (p 0))",
            "sat",
            "line 3 column 14: `Bool` is built in",
        ),
        (
            "(set-logic LIA)(assert (p 0))",
            "sat",
            "line 3 column 1: the logic LIA is read as HORN",
        ),
        (
            "(assert (p 0))(get-model)(check-sat)",
            "sat",
            "line 3 column 15: `get-model` before the check",
        ),
        (
            "(declare-datatypes ((A 0)) (((a (b B)))))(declare-datatypes ((B 0)) (((c))))
             (assert (p 0))",
            "sat",
            "line 3 column 1: datatypes are used before their declaration",
        ),
        (
            "(declare-datatype L ((nil) (cons (hd Int) (tl L))))
             (assert (p (_size (cons 1 nil)))) (assert (not (p (_size nil))))",
            "sat",
            "line 4 column 26: `_size` is read as Eldarica's",
        ),
    ] {
        let text = format!("{P}{text}");
        let (found, warnings) = answer(&text);
        assert_eq!(found, verdict, "{text}");
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].starts_with(warning), "{warnings:?}\n{warning}");
        let options = Options {
            strict: true,
            ..Options::default()
        };
        let refused = parse_with_options(&asked(&text), Rc::new(TermStore::new()), options);
        let error = refused
            .err()
            .unwrap_or_else(|| panic!("read strictly:\n{text}"));
        let (place, message) = warning.split_once(": ").unwrap();
        let expected = format!("{place}: not standard: {message}");
        assert!(
            error.to_string().starts_with(&expected),
            "{error}\n{expected}"
        );
    }
}

/// The number of constructors: fields of sorts of the same command count.
#[test]
fn numbers_of_constructors() {
    for (text, verdict) in [
        // Several sorts, and a list in a tree.
        (
            "(declare-datatypes ((T 0) (|L s| 0))
                 (((node (data Int) (sub |L s|))) ((nil) (cons (hd T) (tl |L s|)))))
             (assert (p (_size (cons (node 5 (cons (node 6 nil) nil)) nil)))) (assert (not (p 7)))",
            "unsat",
        ),
        (
            "(declare-datatypes ((T 0) (L 0)) (((node (sub L))) ((nil) (cons (hd T) (tl L)))))
             (assert (forall ((t T) (l L)) (>= (_size (cons t l)) (+ (_size t) (_size l)))))",
            "sat",
        ),
        // The fields of another command's sort do not count.
        (
            "(declare-datatype E ((a) (b (c Int)))) (declare-datatype F ((f (g E) (h E))))
             (assert (p (_size (f a a)))) (assert (p (_size a))) (assert (not (p 1)))",
            "unsat",
        ),
        (
            "(declare-datatypes ((E 0) (F 0)) (((a) (b (c Int))) ((f (g E) (h E)))))
             (assert (p (_size (f a a)))) (assert (not (p 3)))",
            "unsat",
        ),
        // In a definition, and a local name.
        (
            "(declare-datatype L ((nil) (cons (hd Int) (tl L))))
             (define-fun long ((l L)) Bool (> (_size l) 2))
             (assert (forall ((_size L)) (=> (long _size) (p 0))))
             (assert (not (p 0)))",
            "unsat",
        ),
        // The user's own function.
        (
            "(declare-datatype L ((nil) (cons (hd Int) (tl L))))
             (define-fun _size ((l L)) Int 7) (assert (p (_size nil))) (assert (not (p 7)))",
            "unsat",
        ),
    ] {
        assert_eq!(answer(&format!("{P}{text}")).0, verdict, "{text}");
    }
    for (text, place) in [
        ("(assert (p (_size 3)))", "line 3 column 13"),
        (
            "(declare-datatypes ((L 1)) ((par (T) ((nil) (cons (hd T) (tl (L T)))))))
             (assert (p (_size (as nil (L Int)))))",
            "line 4 column 26",
        ),
    ] {
        let error = read(&format!("{P}{text}")).err().map(|e| e.to_string());
        assert_eq!(error, Some(format!("{place}: `_size` is not declared")));
    }
}

/// Standard text that looks unusual, without warnings.
#[test]
fn standard_text_has_no_warning() {
    for (text, verdict) in [
        // The user's own names.
        (
            "(declare-fun -3 () Bool)(assert -3)(assert (not -3))",
            "unsat",
        ),
        (
            "(declare-fun q (Bool Int) Bool)(declare-const -1 Bool)
             (assert (forall ((-2 Int)) (=> -1 (q true -2))))(assert -1)(assert (not (q true 5)))",
            "unsat",
        ),
        ("(declare-fun bv2int () Bool)(assert bv2int)", "sat"),
        ("(set-info :status sat)(assert (p 0))", "sat"),
        ("(assert (! (p 0) :weight 3 :foo (bar let)))", "sat"),
        ("(assert (or (p (+ 0))))(assert (not (and (p 0))))", "unsat"),
        // Eldarica's name of an operator.
        (
            "(declare-fun b ((_ BitVec 8)) Bool)(assert (b ((_ nat2bv 8) 258)))(assert (not (b #x02)))",
            "unsat",
        ),
        (
            "(assert (p (ubv_to_int #xff)))(assert (p (sbv_to_int #xff)))
             (assert (forall ((x Int)) (=> (p x) (p (ubv_to_int ((_ int_to_bv 4) x))))))
             (assert (not (p 15)))",
            "unsat",
        ),
        // Z3's older form of parametric datatypes.
        (
            "(declare-datatypes (T) ((Lst nul (cell (hd T) (tl Lst)))))
             (declare-fun l ((Lst Int)) Bool)(assert (l (cell 1 (as nul (Lst Int)))))
             (assert (forall ((x (Lst Int))) (=> (and (l x) ((_ is cell) x)) (l (tl x)))))
             (assert (not (l (as nul (Lst Int)))))",
            "unsat",
        ),
    ] {
        let text = format!("{P}{text}");
        let (found, warnings) = answer(&text);
        assert_eq!((found, &warnings[..]), (verdict, &[][..]), "{text}");
    }
}

/// Overflow predicates against the mathematical results, for all values of 1 and 3 bits, with
/// variables and numerals as arguments.
#[test]
fn overflow_predicates() {
    for width in [1u32, 3] {
        let size = 1i64 << width;
        let half = size / 2;
        let signed = |x: i64| if x >= half { x - size } else { x };
        let fits = |x: i64| (0..size).contains(&x);
        let fits_signed = |x: i64| (-half..half).contains(&x);
        for x in 0..size {
            for y in 0..size {
                let (sx, sy) = (signed(x), signed(y));
                let literal = |x: i64| format!("(_ bv{x} {width})");
                for (name, overflows) in [
                    ("bvuaddo", !fits(x + y)),
                    ("bvsaddo", !fits_signed(sx + sy)),
                    ("bvusubo", !fits(x - y)),
                    ("bvssubo", !fits_signed(sx - sy)),
                    ("bvumulo", !fits(x * y)),
                    ("bvsmulo", !fits_signed(sx * sy)),
                    ("bvsdivo", sy == -1 && !fits_signed(-sx)),
                ] {
                    let (x, y) = (literal(x), literal(y));
                    let sort = format!("(_ BitVec {width})");
                    // With both arguments, one, or none as numerals.
                    for (a, b) in [(&*x, &*y), ("a", &*y), (&*x, "b"), ("a", "b")] {
                        let text = format!(
                            "(assert (forall ((a {sort}) (b {sort}))
                                (=> (= a {x}) (= b {y}) (= {overflows} ({name} {a} {b})))))"
                        );
                        assert!(is_valid(&text), "{text}");
                    }
                }
                let text = format!("(assert (= {} (bvnego {})))", sx == -half, literal(x));
                assert!(is_valid(&text), "{text}");
            }
        }
    }
    for (bad, message) in [
        ("(bvnego #x1 #x2)", "`bvnego` takes 1 arguments, not 2"),
        ("(bvuaddo #x1)", "`bvuaddo` takes 2 arguments, not 1"),
        ("(bvsmulo #x1 #b1)", "expects the sort (_ BitVec 4)"),
        ("(bvnego 1)", "expects bit-vectors"),
    ] {
        let error = read(&format!("(assert {bad})")).err().unwrap();
        assert!(error.message().contains(message), "{bad}: {error}");
    }
}

/// Whether the constraints of an assertion without predicates are evaluated to a valid clause: it is
/// false for no value of its variables.
fn is_valid(text: &str) -> bool {
    let problem = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let terms = &problem.terms;
    problem.clauses.iter().all(|clause| {
        // The equations of the body give the variables their values.
        let mut values = Assignment::default();
        for (name, var) in &clause.vars {
            let start = text.find(&format!("(= {name} (_ bv")).unwrap() + name.len() + 4;
            let literal = &text[start..start + text[start..].find(')').unwrap() + 1];
            let parts: Vec<&str> = literal.trim_matches(['(', ')']).split(' ').collect();
            let value = parts[1][2..].parse::<u32>().unwrap();
            values.insert(*var, terms.bitvec(value.into(), parts[2].parse().unwrap()));
        }
        let value = evaluate(terms, clause.constraint, &values);
        value == Some(TermId::FALSE)
    })
}

/// The name of a formula stands for it.
#[test]
fn names_of_formulas() {
    for (text, verdict) in [
        (
            "(declare-fun q () Bool)(assert (! (p 0) :named start))(assert (=> start q))
             (assert (not q))",
            "unsat",
        ),
        // The name does not assert anything where the formula is part of another.
        (
            "(declare-fun q () Bool)(assert (=> (! (p 0) :named start) q))(assert (not start))",
            "sat",
        ),
        // In the same command, and a name in a named formula.
        (
            "(declare-fun q () Bool)
             (assert (! (and (! (p 0) :named |a b|) |a b| q) :named all))
             (assert (=> all |a b| (p 1)))(assert (not (and q (p 1))))",
            "unsat",
        ),
        // A bound variable hides what is free in the formula.
        (
            "(declare-fun q () Bool)(assert (! (and q (p 0)) :named both))
             (assert (forall ((q Int)) (=> both (= q 7) (p q))))(assert (not (p 7)))",
            "unsat",
        ),
        (
            "(assert (! (forall ((x Int)) (=> (> x 3) (p x))) :named many))
             (assert (forall ((many Int)) (=> (p many) (> many 3))))(assert (not (p 3)))",
            "sat",
        ),
        // Names that nobody uses may be of any term, and used twice.
        (
            "(assert (forall ((x Int)) (! (=> (= x 0) (p x)) :named n)))
             (assert (forall ((x Int)) (=> (p x) (! (= x 0) :named n))))",
            "sat",
        ),
        (
            "(push)(assert (! (p 0) :named a))(pop)(assert (! (p 1) :named a))
             (assert (=> a (p 2)))(assert (not (p 2)))",
            "unsat",
        ),
        // The user's own declaration comes first.
        (
            "(declare-fun q () Bool)(assert (! (p 0) :named q))(assert (not q))",
            "sat",
        ),
    ] {
        let text = format!("{P}{text}");
        let (found, warnings) = answer(&text);
        assert_eq!((found, warnings.len()), (verdict, 0), "{text}");
    }
    for (text, message) in [
        (
            "(assert a)(assert (! (p 0) :named a))",
            "`a` is not declared",
        ),
        (
            "(assert (! (p 0) :named a))(assert (a 1))",
            "takes 0 arguments",
        ),
        (
            "(assert (forall ((x Int)) (! (p x) :named a)))(assert a)",
            "`a` names a term that is no formula or has variables",
        ),
        (
            "(assert (p (! 3 :named three)))(assert (p three))",
            "`three` names a term that is no formula",
        ),
        (
            "(assert (! (p 0) :named a))(assert (! (p 1) :named a))(assert a)",
            "`a` names several terms",
        ),
        (
            "(assert (! (p 0) :named a))(assert (=> a (p 1)))(assert (! (p 1) :named a))",
            "`a` names several terms",
        ),
        (
            "(assert (! (p 0) :named a))(assert (=> a (p 1)))(declare-fun a () Bool)",
            "`a` is declared already",
        ),
        (
            "(push)(assert (! (p 0) :named a))(pop)(assert a)",
            "`a` is not declared",
        ),
    ] {
        let error = read(&format!("{P}{text}"))
            .err()
            .unwrap_or_else(|| panic!("{text} is read"));
        assert!(error.message().contains(message), "{text}: {error}");
    }
}

/// Names cost no more than what they stand for.
#[test]
fn many_names_stay_linear() {
    let mut text = format!("{P}(declare-fun q () Bool)");
    let depth = 20_000;
    for number in 0..depth {
        text.push_str(&format!("(assert (! (p {number}) :named a{number}))"));
        text.push_str(&format!("(assert (=> a{number} (p (+ {number} 1))))"));
    }
    let nested = format!(
        "{}q{}",
        "(! ".repeat(depth),
        (0..depth)
            .map(|n| format!(" :named b{n})"))
            .collect::<String>()
    );
    text.push_str(&format!("(assert (=> b{} {nested}))", depth - 1));
    let error = read(&text).err().unwrap();
    assert!(error.message().contains("is not declared"), "{error}");
    let text = text.replace(&format!("(=> b{} {nested})", depth - 1), &nested);
    let problem = read(&format!("{text}(assert (=> b{} (p 0)))", depth - 1)).unwrap();
    assert!(!problem.clauses.is_empty());
    // A name whose formula doubles with each use.
    let mut text = format!("{P}(assert (! (p 0) :named a0))");
    for number in 1..64 {
        let before = number - 1;
        text.push_str(&format!(
            "(assert (=> (! (and a{before} a{before}) :named a{number}) (p {number})))"
        ));
    }
    assert_eq!(read(&text).unwrap().clauses.len(), 64);
}

/// Messages name the theory, and say what to write instead.
#[test]
fn messages_say_what_to_write() {
    for (text, message) in [
        (
            "(declare-fun q (String) Bool)",
            "strings are not supported; write numbers",
        ),
        (
            "(assert (= (str.len \"a\") 1))",
            "strings are not supported",
        ),
        (
            "(assert (= 1 (str.to_code 1)))",
            "`str.to_code` is not declared: strings",
        ),
        (
            "(declare-fun q ((_ FloatingPoint 8 24)) Bool)",
            "floating-point numbers are not supported",
        ),
        (
            "(declare-fun q (Float32) Bool)",
            "floating-point numbers are not supported",
        ),
        (
            "(assert (fp.isNaN (_ NaN 8 24)))",
            "`(_ NaN …)` is not supported: floating-point",
        ),
        (
            "(declare-fun q ((Seq Int)) Bool)",
            "sequences are not supported",
        ),
        (
            "(declare-fun q ((Set Int)) Bool)",
            "sets are not supported; write arrays to `Bool`",
        ),
        ("(declare-fun q ((_ FiniteField 7)) Bool)", "finite fields"),
        (
            "(assert-soft (p 0) :weight 3)",
            "soft constraints and objectives",
        ),
        ("(minimize 1)", "soft constraints and objectives"),
        ("(check-sat-assuming (q))", "assert the assumptions"),
        ("(assert (= 3x 1))", "must not begin with a digit"),
        ("(declare-fun = () Bool)", "choose another name"),
        ("(declare-codatatypes ((S 0)) (((c (d S)))))", "codatatypes"),
        ("(frob 1)", "the command `frob` is not supported"),
        (
            "(declare-fun exists (Int) Bool)",
            "`exists` is a reserved word: as a name write `|exists|`",
        ),
        ("(define-fun let () Bool true)", "as a name write `|let|`"),
        ("(declare-datatype par ((a)))", "as a name write `|par|`"),
        ("(assert (forall ((match Int)) (p 0)))", "write `|match|`"),
        ("(assert (and forall (p 0)))", "as a name write `|forall|`"),
    ] {
        let error = read(&format!("{P}{text}"))
            .err()
            .unwrap_or_else(|| panic!("{text} is read"));
        assert!(error.message().contains(message), "{text}: {error}");
        assert_eq!(error.line, 3, "{error}");
    }
    // A name of such a theory may be the user's.
    let own = "(declare-datatypes ((String 0)) (((empty))))(declare-fun str.len (String) Bool)
        (assert (str.len empty))";
    assert!(read(&format!("{P}{own}")).is_ok());
}

#[test]
fn a_check_at_the_end() {
    let options = Options {
        check_at_end: true,
        ..Options::default()
    };
    let read = |text: &str| parse_with_options(text, Rc::new(TermStore::new()), options);
    let text = format!("{P}(assert (p 0))(get-model)");
    assert!(read(&text).unwrap().requests.model);
    let error = parse(&text, Rc::new(TermStore::new())).err().unwrap();
    assert!(
        error.message().contains("`--check-at-end` adds one"),
        "{error}"
    );
    assert!(read("(declare-rel q ())(rule q)").is_err());
    assert!(read(&format!("{P}(assert (p 0)")).is_err());
}

/// What follows the check cannot take its answer away.
#[test]
fn commands_after_the_check() {
    let problem = read(&format!(
        "{P}(assert (p 0))(check-sat)(eval (p 0))(frob (let))"
    ))
    .unwrap();
    assert!(problem.requests.replies && problem.warnings.is_empty());
    let plain = read(&format!("{P}(assert (p 0))(check-sat)(exit)")).unwrap();
    assert!(!plain.requests.replies);
    let changed = format!("{P}(assert (p 0))(check-sat)(frob)(check-sat)");
    let error = read(&changed).err().unwrap();
    assert!(error.message().contains("a second `check-sat`"), "{error}");
}
