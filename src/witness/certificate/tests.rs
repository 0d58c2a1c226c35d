//! Certificates that hold and ones with a gap.

use std::rc::Rc;
use std::time::Duration;

use crate::chc::PredicateId;
use crate::frontend::{Problem, parse};
use crate::run::Context;
use crate::smt::text::{TextCheck, valid_assertions};
use crate::term::{DatatypeId, FunctionId, Sort, SortId, TermId, TermStore};
use crate::witness::{
    Case, Lemma, Model, Outcome, Verdict, Wanted, check_claim, parse_witness, validate,
};

/// Reversing a list twice gives the list.
const TWICE: &str = "(set-logic HORN)
(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-datatypes ((List 0)) (((nil) (cons (first Nat) (rest List)))))
(declare-fun append (List List List) Bool)
(declare-fun reverse (List List) Bool)
(declare-fun differ (List List) Bool)
(assert (forall ((y List)) (append nil y y)))
(assert (forall ((a Nat) (x List) (y List) (z List))
  (=> (append x y z) (append (cons a x) y (cons a z)))))
(assert (reverse nil nil))
(assert (forall ((a Nat) (x List) (y List) (z List))
  (=> (and (reverse x y) (append y (cons a nil) z)) (reverse (cons a x) z))))
(assert (forall ((a Nat) (x List)) (differ nil (cons a x))))
(assert (forall ((a Nat) (x List) (b Nat) (y List))
  (=> (distinct a b) (differ (cons a x) (cons b y)))))
(assert (forall ((a Nat) (x List) (b Nat) (y List))
  (=> (differ x y) (differ (cons a x) (cons b y)))))
(assert (forall ((x List) (y List) (z List))
  (=> (and (reverse x y) (reverse y z) (differ z x)) false)))";

/// A model with its certificate, a comment among its lines.
const PROOF: &str = "(
(define-fun-rec app! ((x List) (y List)) List
  (ite ((_ is nil) x) y (cons (first x) (app! (rest x) y))))
(define-fun-rec rev! ((x List)) List
  (ite ((_ is nil) x) nil (app! (rev! (rest x)) (let ((n nil)) (cons (first x) n)))))
(define-fun append ((x List) (y List) (z List)) Bool (= z (app! x y)))
(define-fun reverse ((x List) (y List)) Bool (= y (rev! x)))
(define-fun differ ((x List) (y List)) Bool (distinct x y))
)
; measure app! (0)
; what follows is a proof
; measure rev! (0)
; lemma last ((x List) (h Nat)) (= (rev! (app! x (cons h nil))) (cons h (rev! x))) :measure (0) \
:case (((_ is nil) x) :unfold ((app! x (cons h nil)) (rev! x) (rev! (cons h nil)) (rev! nil) \
(app! nil (cons h nil)))) \
:case (((_ is cons) x) :induction (((rest x) h)) :unfold ((app! x (cons h nil)) \
(rev! (app! x (cons h nil))) (rev! x) (app! (cons h (rev! (rest x))) (cons (first x) nil))))
; lemma twice ((c List)) (= (rev! (rev! c)) c) :measure (0) \
:case (((_ is nil) c) :unfold ((rev! c))) \
:case (((_ is cons) c) :induction (((rest c))) :use ((last (rev! (rest c)) (first c))) \
:unfold ((rev! c)))
";

fn problem(clauses: &str) -> Problem {
    let text = format!("{clauses}\n(check-sat)");
    parse(&text, Rc::new(TermStore::new())).expect("a problem")
}

fn context(problem: &Problem) -> Context {
    let mut cx = Context::new(problem.terms.clone());
    cx.budget = cx.budget.work(Duration::from_secs(2));
    cx
}

/// The outcome for a witness, with an error of reading for one that is invalid.
fn judge(problem: &Problem, witness: &str) -> Outcome {
    match parse_witness(problem, witness) {
        Ok(claim) => check_claim(problem, &claim, &mut context(problem)),
        Err(error) => Outcome::Invalid(error.to_string()),
    }
}

#[track_caller]
fn is_refused(problem: &Problem, witness: &str, message: &str) {
    match judge(problem, witness) {
        Outcome::Invalid(found) if found.contains(message) => {}
        outcome => panic!("{outcome:?}, expected: {message}\n{witness}"),
    }
}

#[test]
fn a_proof_by_induction_is_accepted() {
    let problem = problem(TWICE);
    assert_eq!(judge(&problem, PROOF), Outcome::Valid);
    assert_eq!(judge(&problem, &format!("sat\n{PROOF}")), Outcome::Valid);
    // Without the lemmas the query is not decided, which is no model and no refutation either.
    let plain: String = PROOF
        .lines()
        .filter(|l| !l.starts_with("; lemma"))
        .map(|l| format!("{l}\n"))
        .collect();
    assert!(matches!(judge(&problem, &plain), Outcome::Undecided(_)));
    // Without measures there is no certificate at all.
    let bare: String = plain
        .lines()
        .filter(|l| !l.starts_with(';'))
        .map(|l| format!("{l}\n"))
        .collect();
    is_refused(&problem, &bare, "without a certificate");
}

#[test]
fn a_wrong_model_is_refused() {
    let problem = problem(TWICE);
    let wrong = PROOF.replace("Bool (= z (app! x y))", "Bool (= z (app! y x))");
    assert_ne!(judge(&problem, &wrong), Outcome::Valid);
    let wrong = PROOF.replace("Bool (distinct x y)", "Bool (= x y)");
    assert_ne!(judge(&problem, &wrong), Outcome::Valid);
}

/// Each part of the proof is needed, and what takes its place must be as good.
#[test]
fn a_gap_is_found() {
    let problem = problem(TWICE);
    for (part, instead, message) in [
        // An instance of the hypothesis, of a lemma; unfoldings.
        (":induction (((rest x) h)) ", "", "lemma last: case 2"),
        (":induction (((rest c))) ", "", "lemma twice: case 2"),
        (
            ":use ((last (rev! (rest c)) (first c))) ",
            "",
            "lemma twice: case 2",
        ),
        (" (rev! x) (app!", " (app!", "lemma last: case 2"),
        (":unfold ((rev! c)))\n", ")\n", "lemma twice: case 2"),
        ("(first c))) ", "(first (rest c)))) ", "lemma twice: case 2"),
        // A case, a guard.
        (
            ":case (((_ is nil) c) :unfold ((rev! c))) ",
            "",
            "lemma twice: that its cases",
        ),
        ("(((_ is nil) c)", "(false", "lemma twice: that its cases"),
        ("(((_ is nil) c)", "(true", "lemma twice: case 1"),
        // Instances that are not smaller, and no measure.
        ("(((rest c)))", "((c))", "not smaller"),
        (
            "(((rest c)))",
            "(((rest (rest c))))",
            "is smaller does not hold",
        ),
        ("(((rest c)))", "(((cons (first c) c)))", "not smaller"),
        ("(((rest c)))", "(((rev! (rest c))))", "not smaller"),
        ("(((rest x) h))", "((x (first x)))", "not smaller"),
        (
            "c) :measure (0) ",
            "c) ",
            "an induction hypothesis that is not smaller",
        ),
        (
            "c) :measure (0) ",
            "c) :measure (1) ",
            "a measure of no variable",
        ),
        // Instances of what is no lemma yet.
        ("((last (rev!", "((twice (rev!", "no lemma twice before"),
        (
            "(((rest x) h)) ",
            "(((rest x) h)) :use ((twice x)) ",
            "no lemma twice before",
        ),
        (
            "((last (rev! (rest c)) (first c)))",
            "((last c))",
            "needs 2 terms",
        ),
        ("lemma last", "lemma twice", "two lemmas"),
        // Of other sorts.
        (
            "((last (rev! (rest c)) (first c)))",
            "((last (first c) c))",
            "Z3 reads",
        ),
        ("(= (rev! (rev! c)) c)", "(rev! c)", "Z3 reads"),
        ("((rev! c)))\n", "((rest c)))\n", "no call of a function"),
        ("((rev! c)))\n", "((rev! c nil)))\n", "needs 1 arguments"),
        ("((rev! c)))\n", "((rev! d)))\n", "Z3 reads"),
        // A statement that does not hold.
        (
            "(= (rev! (rev! c)) c)",
            "(= (rev! c) c)",
            "lemma twice: case",
        ),
        // Form.
        (" :case", " :kase", "no part of a lemma"),
        (" :use", " :used", "no part of a case"),
        ("; lemma twice", "; lemma tw(ice", "does not end"),
        ("; measure rev! (0)", "; measure ver! (0)", "no function"),
        ("; measure rev! (0)", "; measure rev! (x)", "a position"),
    ] {
        let changed = PROOF.replace(part, instead);
        assert_ne!(changed, PROOF, "{part}");
        is_refused(&problem, &changed, message);
    }
    // Each lemma alone.
    for lemma in ["; lemma last", "; lemma twice"] {
        let lines = PROOF.lines().filter(|line| !line.starts_with(lemma));
        let changed: String = lines.map(|line| format!("{line}\n")).collect();
        assert_ne!(judge(&problem, &changed), Outcome::Valid);
    }
    // In the other order.
    let mut lines: Vec<&str> = PROOF.lines().collect();
    let count = lines.len();
    lines.swap(count - 1, count - 2);
    is_refused(&problem, &lines.join("\n"), "no lemma last before");
}

#[test]
fn definitions_must_descend() {
    let problem = problem(TWICE);
    let app = "(ite ((_ is nil) x) y (cons (first x) (app! (rest x) y)))";
    for (part, instead, message) in [
        // Under no tester, or that of another constructor or variable.
        (
            app,
            "(cons zero (app! (rest x) y))",
            "smaller arguments does not hold",
        ),
        (
            app,
            "(ite ((_ is cons) x) y (app! (rest x) y))",
            "smaller arguments does not hold",
        ),
        (
            app,
            "(ite ((_ is nil) y) y (app! (rest x) y))",
            "smaller arguments does not hold",
        ),
        (
            app,
            "(ite ((_ is nil) x) y (app! (rest (rest x)) y))",
            "smaller arguments does not",
        ),
        (
            app,
            "(ite (= (app! (rest x) y) nil) y x)",
            "smaller arguments does not hold",
        ),
        // Not smaller.
        (app, "(cons zero (app! x y))", "do not become smaller"),
        (
            app,
            "(ite ((_ is nil) x) y (app! y (rest x)))",
            "do not become smaller",
        ),
        (
            app,
            "(ite ((_ is nil) x) y (app! (app! (rest x) y) y))",
            "do not become smaller",
        ),
        (
            app,
            "(ite ((_ is nil) x) y (app! (cons zero x) y))",
            "do not become smaller",
        ),
        (
            "measure app! (0)",
            "measure app! (1)",
            "do not become smaller",
        ),
        ("measure app! (0)", "measure app! ()", "has no measure"),
        (
            "measure app! (0)",
            "measure app! (2)",
            "a measure of no argument",
        ),
        ("; measure app! (0)", ";", "has no measure"),
        // In places where its conditions are not known.
        (
            app,
            "(match x ((nil y) ((cons a z) (app! z y))))",
            "inside of a `match`",
        ),
        (
            "Bool (distinct x y)",
            "Bool (distinct x y))\n(define-fun-rec all! ((x List)) Bool \
             (forall ((q List)) (all! (rest x)))",
            "inside of `forall`",
        ),
        // Names.
        ("app!", "<=", "no name for a function"),
        ("app!", "pred", "the problem uses it"),
        ("app!", "differ", "defined twice"),
        ("rev!", "app!", "defined twice"),
        (
            "((x List) (y List)) List",
            "((x List) (app! List)) List",
            "no name for a variable",
        ),
        (
            "((x List) (y List)) List",
            "((first List) (y List)) List",
            "no name for a variable",
        ),
        (
            "(let ((n nil)) (cons (first x) n))",
            "(let ((first x)) (cons (first x) nil))",
            "`let`",
        ),
        // Another function that is not there yet.
        (app, "(rev! y)", "defined after it"),
        (app, "(ite ((_ is nil) x) y zero)", "Z3 reads"),
        (
            app,
            "(ite ((_ is nil) x) y (app! (rest x)))",
            "is called with 1 arguments",
        ),
        (
            app,
            "(ite ((_ is nil) x) y ((as app! List) (rest x) y))",
            "without its name",
        ),
    ] {
        let changed = PROOF.replace(part, instead);
        assert_ne!(changed, PROOF, "{part}");
        is_refused(&problem, &changed, message);
    }
    // Conditions may be connectives, in any order, and deeper parts of a parameter.
    for other in [
        "(ite (or ((_ is nil) x) ((_ is nil) (rest x))) y (app! (rest (rest x)) y))",
        "(ite (and (= (app! (rest x) y) nil) ((_ is cons) x)) y x)",
        "(ite (or (= (app! (rest x) y) nil) ((_ is nil) x)) y x)",
        "(ite (=> ((_ is cons) x) (= (app! (rest x) y) y)) y x)",
        "(ite (not (and ((_ is cons) x) (= y x))) y (let ((r (rest x))) (app! r r)))",
        "(ite (distinct x nil) (let ((x (rest x))) (app! x x)) nil)",
    ] {
        let changed = PROOF.replace(app, other);
        match judge(&problem, &changed) {
            Outcome::Invalid(found) => {
                assert!(!found.contains("function app!"), "{found}\n{other}")
            }
            outcome => panic!("{outcome:?} for {other}"),
        }
    }
}

const INTEGERS: &str = "(set-logic HORN) (declare-fun P (Int Int) Bool)
(assert (forall ((n Int)) (=> (<= n 0) (P n 0))))
(assert (forall ((n Int) (r Int)) (=> (and (P (- n 1) r) (> n 0)) (P n (+ r 2)))))
(assert (forall ((n Int) (r Int)) (=> (and (P n r) (> n 3) (< r n)) false)))";

/// A model of the integers' clauses with `f!` as given, and a lemma about it.
fn doubled(f: &str) -> String {
    format!(
        "((define-fun-rec f! ((n Int)) Int {f})
        (define-fun P ((n Int) (r Int)) Bool (= r (f! n))))
        ; measure f! (0)
        ; lemma l ((n Int)) (=> (> n 0) (= (f! n) (* 2 n))) :measure (0) \
        :case ((> n 1) :induction (((- n 1))) :unfold ((f! n))) \
        :case ((= n 1) :unfold ((f! n) (f! (- n 1))))"
    )
}

#[test]
fn integers_descend_to_zero() {
    let problem = problem(INTEGERS);
    assert_eq!(
        judge(&problem, &doubled("(ite (<= n 0) 0 (+ 2 (f! (- n 1))))")),
        Outcome::Valid
    );
    for (f, message) in [
        ("(+ 1 (f! n))", "smaller arguments does not hold"),
        (
            "(ite (= n 0) 0 (+ 2 (f! (- n 1))))",
            "smaller arguments does not hold",
        ),
        (
            "(ite (<= n 0) 0 (+ 2 (f! (+ n 1))))",
            "smaller arguments does not hold",
        ),
        (
            "(ite (>= n 0) 0 (+ 2 (f! (- n 1))))",
            "smaller arguments does not hold",
        ),
        (
            "(ite (<= n 0) 0 (+ 2 (f! (- (f! n) 1))))",
            "smaller arguments does not hold",
        ),
    ] {
        is_refused(&problem, &doubled(f), message);
    }
    let model = doubled("(ite (<= n 0) 0 (+ 2 (f! (- n 1))))");
    let guards = ":case ((> n 1)";
    for (other, message) in [
        // The hypothesis at zero says nothing, and below zero it is not smaller.
        (":case ((> n 0)", "lemma l: case 1"),
        (":case ((< n 2)", "lemma l: that its cases"),
        (":case ((distinct n 1)", "lemma l: case 1"),
    ] {
        let changed = model.replace(guards, other);
        let outcome = judge(&problem, &changed);
        if other.contains("distinct") {
            // The negated statement already says that n is positive.
            assert_eq!(outcome, Outcome::Valid);
        } else {
            is_refused(&problem, &changed, message);
        }
    }
    let growing = model.replace("(((- n 1)))", "(((+ n 1)))");
    is_refused(&problem, &growing, "is smaller does not hold");
    // The definition that proves anything.
    let absurd = "((define-fun-rec f! ((n Int)) Int (+ 1 (f! n)))
        (define-fun P ((n Int) (r Int)) Bool (= r (f! n))))
        ; measure f! ()
        ; lemma l ((n Int)) false :case (true :unfold ((f! n)))";
    is_refused(&problem, absurd, "has no measure");
}

#[test]
fn measures_are_lexicographic() {
    let problem = problem(
        "(set-logic HORN) (declare-fun A (Int Int Int) Bool)
        (assert (forall ((n Int)) (A 0 n (+ n 1))))
        (assert (forall ((m Int) (r Int)) (=> (and (>= m 0) (A m 1 r)) (A (+ m 1) 0 r))))
        (assert (forall ((m Int) (n Int) (r Int) (s Int))
          (=> (and (>= m 0) (>= n 0) (A (+ m 1) n r) (A m r s)) (A (+ m 1) (+ n 1) s))))
        (assert (forall ((m Int) (n Int) (r Int)) (=> (and (A m n r) (>= m 0) (>= n 0) (< r 0)) false)))",
    );
    let body = "(ite (<= m 0) (+ n 1) (ite (<= n 0) (a! (- m 1) 1) (a! (- m 1) (a! m (- n 1)))))";
    let model = |measure: &str| {
        format!(
            "((define-fun-rec a! ((m Int) (n Int)) Int {body})
            (define-fun A ((m Int) (n Int) (r Int)) Bool
              (=> (and (>= m 0) (>= n 0)) (and (>= r 0) (= r (a! m n))))))
            ; measure a! {measure}
            ; lemma positive ((m Int) (n Int)) (=> (and (>= m 0) (>= n 0)) (> (a! m n) 0)) \
            :measure (0 1) :case (true :unfold ((a! m n))) "
        )
    };
    // The lemma needs more than that, but the definition is one.
    let found = judge(&problem, &model("(0 1)"));
    assert!(
        matches!(&found, Outcome::Invalid(m) if m.contains("lemma positive")),
        "{found:?}"
    );
    for measure in ["(0)", "(1)", "(1 0)"] {
        is_refused(&problem, &model(measure), "function a!");
    }
    let cases = ":case ((<= m 0) :unfold ((a! m n))) \
        :case ((and (> m 0) (<= n 0)) :induction (((- m 1) 1)) :unfold ((a! m n))) \
        :case ((and (> m 0) (> n 0)) :induction ((m (- n 1)) ((- m 1) (a! m (- n 1)))) \
        :unfold ((a! m n)))";
    let proof = model("(0 1)").replace(":case (true :unfold ((a! m n))) ", cases);
    assert_eq!(judge(&problem, &proof), Outcome::Valid);
}

#[test]
fn mutual_recursion_is_one_group() {
    let problem = problem(
        "(set-logic HORN)
        (declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
        (declare-fun even (Nat Bool) Bool) (declare-fun odd (Nat Bool) Bool)
        (assert (even zero true)) (assert (odd zero false))
        (assert (forall ((n Nat) (b Bool)) (=> (even n b) (odd (succ n) b))))
        (assert (forall ((n Nat) (b Bool)) (=> (odd n b) (even (succ n) b))))
        (assert (forall ((n Nat)) (=> (and (even n true) (odd n true)) false)))",
    );
    let model = |even: &str, odd: &str| {
        format!(
            "((define-funs-rec ((even! ((n Nat)) Bool) (odd! ((m Nat)) Bool)) ({even} {odd}))
            (define-fun even ((n Nat) (b Bool)) Bool (= b (even! n)))
            (define-fun odd ((n Nat) (b Bool)) Bool (= b (odd! n))))
            ; measure even! (0)
            ; measure odd! (0)
            ; lemma one ((n Nat)) (not (and (even! n) (odd! n))) :measure (0) \
            :case (((_ is zero) n) :unfold ((odd! n))) \
            :case (((_ is succ) n) :induction (((pred n))) :unfold ((even! n) (odd! n)))"
        )
    };
    let even = "(or ((_ is zero) n) (odd! (pred n)))";
    let odd = "(and ((_ is succ) m) (even! (pred m)))";
    assert_eq!(judge(&problem, &model(even, odd)), Outcome::Valid);
    let stays = "(and ((_ is succ) m) (even! m))";
    is_refused(&problem, &model(even, stays), "function odd!");
    is_refused(&problem, &model("(odd! n)", odd), "function even!");
    let shorter = model(even, odd).replace("; measure odd! (0)", ";");
    is_refused(&problem, &shorter, "does not suit");
    // Two definitions are no group.
    let whole = model(even, odd);
    let heads = "((even! ((n Nat)) Bool) (odd! ((m Nat)) Bool))";
    let together = format!("(define-funs-rec {heads} ({even} {odd}))");
    let apart = format!(
        "(define-fun-rec even! ((n Nat)) Bool {even}) (define-fun-rec odd! ((m Nat)) Bool {odd})"
    );
    assert!(whole.contains(&together));
    is_refused(
        &problem,
        &whole.replace(&together, &apart),
        "defined after it",
    );
}

// ---- models of terms ----

/// The parts of a problem's list sort.
struct Lists<'a> {
    terms: &'a TermStore,
    sort: SortId,
    id: DatatypeId,
}

impl<'a> Lists<'a> {
    fn new(problem: &'a Problem) -> Self {
        let terms = &*problem.terms;
        let sort = terms.sort_of(problem.predicates[0].params[0]);
        let Sort::Datatype(id) = terms.sort(sort) else {
            panic!("a datatype")
        };
        Lists { terms, sort, id }
    }

    fn nil(&self) -> TermId {
        self.terms.construct(self.id, 0, &[])
    }

    fn cons(&self, head: TermId, tail: TermId) -> TermId {
        self.terms.construct(self.id, 1, &[head, tail])
    }

    fn is(&self, constructor: u32, list: TermId) -> TermId {
        self.terms.is(self.id, constructor, list)
    }

    fn first(&self, list: TermId) -> TermId {
        self.terms.field(self.id, 1, 0, list)
    }

    fn rest(&self, list: TermId) -> TermId {
        self.terms.field(self.id, 1, 1, list)
    }

    /// `f(x, ...) = if x is nil then nil case else cons case`.
    fn define(
        &self,
        name: &str,
        sorts: &[SortId],
        result: SortId,
        nil: impl FnOnce(&[TermId]) -> TermId,
        cons: impl FnOnce(FunctionId, &[TermId]) -> TermId,
    ) -> FunctionId {
        let f = self.terms.declare_function(name, sorts, result);
        let params = self.terms.function(f).params.clone();
        let (nil, cons) = (nil(&params), cons(f, &params));
        let body = self.terms.ite(self.is(0, params[0]), nil, cons);
        self.terms.define_function(f, body, vec![0]);
        f
    }
}

/// The model of `TWICE` as an engine makes it.
fn model_of_terms(problem: &Problem) -> Model {
    let l = Lists::new(problem);
    let t = l.terms;
    let app = l.define(
        "append",
        &[l.sort; 2],
        l.sort,
        |p| p[1],
        |f, p| l.cons(l.first(p[0]), t.call(f, &[l.rest(p[0]), p[1]])),
    );
    let rev = l.define(
        "rev!",
        &[l.sort],
        l.sort,
        |_| l.nil(),
        |f, p| {
            let rest = t.call(f, &[l.rest(p[0])]);
            t.call(app, &[rest, l.cons(l.first(p[0]), l.nil())])
        },
    );
    let app = |x, y| t.call(app, &[x, y]);
    let rev = |x| t.call(rev, &[x]);
    let nat = t.sort_of(l.first(l.nil()));
    let (x, h, c) = (
        t.fresh_var("x", l.sort),
        t.fresh_var("h", nat),
        t.fresh_var("c", l.sort),
    );
    let one = |h| l.cons(h, l.nil());
    let case = |guard, induction, instances, unfoldings: &[TermId]| Case {
        guard,
        induction,
        instances,
        unfoldings: unfoldings.to_vec(),
    };
    let (hx, tx) = (l.first(x), l.rest(x));
    let last = Lemma {
        name: "last one".to_owned(),
        vars: vec![x, h],
        statement: t.eq(rev(app(x, one(h))), l.cons(h, rev(x))),
        measure: vec![0],
        cases: vec![
            case(
                l.is(0, x),
                vec![],
                vec![],
                &[
                    app(x, one(h)),
                    rev(x),
                    rev(one(h)),
                    rev(l.nil()),
                    app(l.nil(), one(h)),
                ],
            ),
            case(
                l.is(1, x),
                vec![vec![tx, h]],
                vec![],
                &[
                    app(x, one(h)),
                    rev(app(x, one(h))),
                    rev(x),
                    app(l.cons(h, rev(tx)), one(hx)),
                ],
            ),
        ],
    };
    let (hc, tc) = (l.first(c), l.rest(c));
    let twice = Lemma {
        name: "last one".to_owned(),
        vars: vec![c],
        statement: t.eq(rev(rev(c)), c),
        measure: vec![0],
        cases: vec![
            case(l.is(0, c), vec![], vec![], &[rev(c)]),
            case(
                l.is(1, c),
                vec![vec![tc]],
                vec![(0, vec![rev(tc), hc])],
                &[rev(c)],
            ),
        ],
    };
    let params = |i: usize| problem.predicates[i].params.clone();
    let (append, reverse, differ) = (params(0), params(1), params(2));
    let formulas = [
        t.eq(append[2], app(append[0], append[1])),
        t.eq(reverse[1], rev(reverse[0])),
        t.not(t.eq(differ[0], differ[1])),
    ];
    Model {
        definitions: formulas
            .into_iter()
            .enumerate()
            .map(|(i, f)| (PredicateId(i as u32), f))
            .collect(),
        lemmas: vec![last, twice],
    }
}

fn printed(problem: &Problem, model: Model) -> Result<String, String> {
    let validated = validate(problem, Verdict::Sat(model), &mut context(problem));
    match validated.reason() {
        Some(reason) => Err(reason.to_string()),
        None => {
            let wanted = Wanted {
                model: true,
                ..Wanted::default()
            };
            Ok(validated.output(problem, wanted).details().to_owned())
        }
    }
}

#[test]
fn what_is_printed_is_read_again() {
    let problem = problem(TWICE);
    let text = printed(&problem, model_of_terms(&problem)).unwrap();
    // The name is the problem's own, so the function has another.
    assert!(
        text.contains("(define-fun-rec append! ((x!0 List) (x!1 List)) List"),
        "{text}"
    );
    assert!(text.contains("\n; measure append! (0)\n; measure rev! (0)\n; lemma |last one| ("));
    assert!(text.contains("\n; lemma |last one!| ("), "{text}");
    assert_eq!(judge(&problem, &text), Outcome::Valid);
    // To other readers it is definitions and comments.
    let datatypes: String = TWICE
        .lines()
        .skip(1)
        .take(2)
        .map(|l| l.replace("List", "L"))
        .collect();
    let definitions = text.replace("List", "L");
    let (list, comments) = definitions.split_once("\n)\n").unwrap();
    let commands = list.trim_start_matches("(\n");
    let script = format!("{datatypes}{commands}\n{comments}(assert (= (rev! nil) nil))");
    assert_eq!(
        valid_assertions(&script, &context(&problem).budget),
        TextCheck::Valid { assertions: 1 }
    );
}

#[test]
fn a_gap_in_terms_is_a_failure() {
    let problem = problem(TWICE);
    let change = |change: &dyn Fn(&mut Model)| {
        let mut model = model_of_terms(&problem);
        change(&mut model);
        printed(&problem, model).unwrap_err()
    };
    type Change<'a> = &'a dyn Fn(&mut Model);
    let changes: [(Change<'_>, &str); 6] = [
        (&|m| m.lemmas[1].cases[1].instances.clear(), "case 2"),
        (
            &|m| m.lemmas[1].cases[1].instances[0].0 = 1,
            "not before it",
        ),
        (&|m| m.lemmas[0].cases.truncate(1), "all cases"),
        (&|m| m.lemmas[0].vars.truncate(1), "more than its variables"),
        (
            &|m| m.lemmas[0].cases[0].unfoldings.push(TermId::TRUE),
            "no call",
        ),
        (&|m| m.lemmas[0].measure.clear(), "not smaller"),
    ];
    for (edit, message) in changes {
        let found = change(edit);
        assert!(found.contains(message), "{found}, expected: {message}");
    }
    // A function without a definition is not one.
    let mut model = model_of_terms(&problem);
    let params = &problem.predicates[1].params;
    let terms = &problem.terms;
    let f = terms.declare_function("f!", &[terms.sort_of(params[0])], terms.sort_of(params[0]));
    let formula = terms.eq(params[1], terms.call(f, &[params[0]]));
    model.definitions.insert(PredicateId(1), formula);
    let found = printed(&problem, model).unwrap_err();
    assert!(found.contains("no measure"), "{found}");
}

/// Instances of a parametric datatype, whose testers are printed as `match`; integers in results,
/// and a size next to them.
#[test]
fn lengths_of_parametric_lists() {
    let problem = problem(
        "(set-logic HORN)
        (declare-datatypes ((Chain 1)) ((par (T) ((none) (more (hd T) (tl (Chain T)))))))
        (declare-fun join ((Chain Int) (Chain Int) (Chain Int)) Bool)
        (declare-fun count ((Chain Int) Int) Bool)
        (assert (forall ((y (Chain Int))) (join (as none (Chain Int)) y y)))
        (assert (forall ((a Int) (x (Chain Int)) (y (Chain Int)) (z (Chain Int)))
          (=> (join x y z) (join (more a x) y (more a z)))))
        (assert (count (as none (Chain Int)) 0))
        (assert (forall ((a Int) (x (Chain Int)) (n Int)) (=> (count x n) (count (more a x) (+ n 1)))))
        (assert (forall ((x (Chain Int)) (y (Chain Int)) (u (Chain Int)) (v (Chain Int)) (m Int) (n Int))
          (=> (and (join x y u) (join y x v) (count u m) (count v n) (distinct m n)) false)))",
    );
    let l = Lists::new(&problem);
    let t = l.terms;
    let zero = t.int(0);
    let app = l.define(
        "join!",
        &[l.sort; 2],
        l.sort,
        |p| p[1],
        |f, p| l.cons(l.first(p[0]), t.call(f, &[l.rest(p[0]), p[1]])),
    );
    let len = l.define(
        "len!",
        &[l.sort],
        SortId::INT,
        |_| zero,
        |f, p| {
            let rest = t.call(f, &[l.rest(p[0])]);
            t.add(&[t.int(1), t.ite(t.ge(rest, zero), rest, zero)])
        },
    );
    let app = |x, y| t.call(app, &[x, y]);
    let len = |x| t.call(len, &[x]);
    let (x, y) = (t.fresh_var("x", l.sort), t.fresh_var("y", l.sort));
    let lemma = |name: &str, vars: &[TermId], statement, cases| Lemma {
        name: name.to_owned(),
        vars: vars.to_vec(),
        statement,
        measure: vec![0],
        cases,
    };
    let case = |guard, induction, instances, unfoldings: &[TermId]| Case {
        guard,
        induction,
        instances,
        unfoldings: unfoldings.to_vec(),
    };
    let lemmas = vec![
        lemma(
            "positive",
            &[x],
            t.ge(len(x), zero),
            vec![case(TermId::TRUE, vec![], vec![], &[len(x)])],
        ),
        lemma(
            "sum",
            &[x, y],
            t.eq(len(app(x, y)), t.add(&[len(x), len(y)])),
            vec![
                case(l.is(0, x), vec![], vec![(0, vec![y])], &[app(x, y), len(x)]),
                case(
                    l.is(1, x),
                    vec![vec![l.rest(x), y]],
                    vec![(0, vec![l.rest(x)]), (0, vec![app(l.rest(x), y)])],
                    &[app(x, y), len(x), len(app(x, y))],
                ),
            ],
        ),
    ];
    let params = |i: usize| problem.predicates[i].params.clone();
    let (join, count) = (params(0), params(1));
    let both = |formula| {
        let definitions = [
            (PredicateId(0), t.eq(join[2], app(join[0], join[1]))),
            (PredicateId(1), formula),
        ];
        Model {
            definitions: definitions.into_iter().collect(),
            lemmas: lemmas.clone(),
        }
    };
    let text = printed(&problem, both(t.eq(count[1], len(count[0])))).unwrap();
    assert!(text.contains("(match x!0 "), "{text}");
    assert_eq!(judge(&problem, &text), Outcome::Valid);
    // A size is known to be a function, and is uninterpreted in the lemmas.
    let mut sized = both(t.eq(count[1], len(count[0])));
    let (s, size) = (t.fresh_var("s", l.sort), |x| t.size(x));
    sized.lemmas.push(lemma(
        "size",
        &[s],
        t.eq(len(s), size(s)),
        vec![
            case(l.is(0, s), vec![], vec![], &[len(s), size(s)]),
            case(
                l.is(1, s),
                vec![vec![l.rest(s)]],
                vec![(0, vec![l.rest(s)])],
                &[len(s), size(s)],
            ),
        ],
    ));
    let text = printed(&problem, sized.clone()).unwrap();
    assert!(
        text.contains("(define-fun-rec |size!(Chain Int)| "),
        "{text}"
    );
    assert_eq!(judge(&problem, &text), Outcome::Valid);
    let absurd = text.replacen("|size!(Chain Int)| x!0", "|size!(Chain Int)| (tl x!0)", 1);
    assert_ne!(absurd, text);
    assert_ne!(judge(&problem, &absurd), Outcome::Valid);
    let last = sized.lemmas.len() - 1;
    sized.lemmas[last].cases[1].unfoldings.pop();
    assert!(
        printed(&problem, sized)
            .unwrap_err()
            .contains("lemma size: case 2")
    );
}
