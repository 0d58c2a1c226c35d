//! Certificates that try to prove `false` for clauses without a model, and models that other
//! readers read differently.

use super::Absurd;

/// The empty list is in `P`, and nothing may be.
const CLAUSES: &str = "(set-logic HORN)
(declare-datatypes ((List 0)) (((nil) (cons (first Int) (rest List)))))
(declare-fun P (List) Bool)
(assert (P nil))
(assert (forall ((x List)) (=> (P x) false)))";

/// Nothing may be in `P`.
const EMPTY: &str = "(set-logic HORN)
(declare-datatypes ((List 0)) (((nil) (cons (first Int) (rest List)))))
(declare-fun P (List) Bool)
(assert (forall ((x List)) (=> (P x) false)))";

pub const ABSURD: &[Absurd] = &[
    (
        "a function that is its successor",
        CLAUSES,
        "((define-fun-rec f! ((x List)) Int (+ 1 (f! x)))
        (define-fun P ((x List)) Bool true))
        ; measure f! (0)
        ; lemma l () false :case (true :unfold ((f! nil)))",
        "function f!: a call of f! whose arguments do not become smaller",
    ),
    (
        "a constant that is its successor",
        CLAUSES,
        "((define-fun-rec f! () Int (+ 1 f!)) (define-fun P ((x List)) Bool true))
        ; measure f! ()
        ; lemma l () false :case (true :unfold (f!))",
        "function f!: it is recursive and has no measure",
    ),
    (
        "a name that begins where a number ends",
        CLAUSES,
        "((define-fun-rec f! () Int (+ 1 0f!)) (define-fun P ((x List)) Bool true))
        ; measure f! ()
        ; lemma l () false :case (true :unfold (f!))",
        "solvers may read this differently",
    ),
    (
        "a name that begins where a negative number ends",
        CLAUSES,
        "((define-fun-rec f! () Int (+ 1 -0f!)) (define-fun P ((x List)) Bool true))
        ; measure f! ()
        ; lemma l () false :case (true :unfold (f!))",
        "solvers may read this differently",
    ),
    (
        "a name that ends where a keyword begins",
        CLAUSES,
        "((define-fun-rec f! () Int (+ 1 (! f!:named q))) (define-fun P ((x List)) Bool true))
        ; measure f! ()
        ; lemma l () false :case (true :unfold (f!))",
        "solvers may read this differently",
    ),
    (
        "a call that hides in an attribute's term",
        CLAUSES,
        "((define-fun-rec f! () Int (+ 1 (! f! :named q))) (define-fun P ((x List)) Bool true))
        ; measure f! ()
        ; lemma l () false :case (true :unfold (f!))",
        "function f!: a call inside of `!`",
    ),
    (
        "a call that hides in an array",
        CLAUSES,
        "((define-fun-rec f! ((n Int)) Int (+ 1 (select (_ as-array f!) n)))
        (define-fun P ((x List)) Bool true))
        ; measure f! (0)
        ; lemma l () false :case (true :unfold ((f! 0)))",
        "function f!: a call inside of `_`",
    ),
    (
        "a call that hides in a map",
        CLAUSES,
        "((define-fun-rec f! ((n Int)) Int
          (+ 1 (select ((_ map f!) ((as const (Array Int Int)) n)) 0)))
        (define-fun P ((x List)) Bool true))
        ; measure f! (0)
        ; lemma l () false :case (true :unfold ((f! 0)))",
        "function f!: a function that is called without its name",
    ),
    (
        "a call under a quantifier",
        CLAUSES,
        "((define-fun-rec f! ((x List)) Bool (forall ((n Int)) (not (f! (rest x)))))
        (define-fun P ((x List)) Bool true))
        ; measure f! (0)
        ; lemma l () false :case (true :unfold ((f! nil)))",
        "function f!: a call inside of `forall`",
    ),
    (
        "a function named as Z3 names a tester",
        CLAUSES,
        "((define-fun-rec is-nil ((x List)) Bool false) (define-fun P ((x List)) Bool true))
        ; measure is-nil ()
        ; lemma l () false :case (true :unfold ((is-nil nil)))",
        "lemma l: case 1 does not hold",
    ),
    (
        "a function named as an operation of integers",
        CLAUSES,
        "((define-fun-rec + ((x Int) (y Int)) Int 0) (define-fun P ((x List)) Bool true))
        ; measure + ()
        ; lemma l () false :case (true :unfold ((+ 1 1)))",
        "builtin symbol",
    ),
    (
        "a function named as a truth value",
        CLAUSES,
        "((define-fun-rec true () Bool false) (define-fun P ((x List)) Bool true))
        ; measure true ()
        ; lemma l () false :case (true :unfold (true))",
        "true cannot name a function",
    ),
    (
        "a function named as a number",
        CLAUSES,
        "((define-fun-rec 1 () Int 0) (define-fun P ((x List)) Bool true))
        ; measure 1 ()
        ; lemma l () false :case (true :unfold (1))",
        "Z3 rejects the certificate",
    ),
    (
        "a function named as a lemma of the checker",
        CLAUSES,
        "((define-fun-rec c!l0 ((x List)) Bool true) (define-fun P ((x List)) Bool true))
        ; measure c!l0 ()
        ; lemma l ((x List)) false :case (true :unfold ((c!l0 x)))",
        "lemma l: case 1 does not hold",
    ),
    (
        "a recursive predicate without a measure",
        CLAUSES,
        "((define-fun-rec P ((x List)) Bool (not (P x))))
        ; measure P ()
        ; lemma l () false :case (true :unfold ((P nil)))",
        "function P: it is recursive and has no measure",
    ),
    (
        "a recursive definition without a certificate",
        CLAUSES,
        "((define-fun-rec P ((x List)) Bool (not (P x))))",
        "without a certificate",
    ),
    (
        "recursion in a definition that is said to have none",
        CLAUSES,
        "((define-fun P ((x List)) Bool (not (P x))))
        ; lemma l () true :case (true)",
        "Z3 rejects the definitions",
    ),
    (
        "a definition of a connective",
        CLAUSES,
        "((define-fun => ((a Bool) (b Bool)) Bool true) (define-fun P ((x List)) Bool true))
        ; lemma l () true :case (true)",
        "=> is defined, but the problem uses it",
    ),
    (
        "a definition of a constructor",
        CLAUSES,
        "((define-fun nil () List (cons 0 nil)) (define-fun P ((x List)) Bool (distinct x nil)))
        ; lemma l () true :case (true)",
        "nil is defined, but the problem uses it",
    ),
    (
        "a lemma without cases",
        CLAUSES,
        "((define-fun P ((x List)) Bool true))
        ; lemma l () false",
        "lemma l: that its cases cover all values does not hold",
    ),
    (
        "a lemma with an impossible case",
        CLAUSES,
        "((define-fun P ((x List)) Bool true))
        ; lemma l () false :case (false)",
        "lemma l: that its cases cover all values does not hold",
    ),
    (
        "a lemma that is its own hypothesis",
        CLAUSES,
        "((define-fun P ((x List)) Bool true))
        ; lemma l () false :case (true :induction (()))",
        "lemma l: case 1: an induction hypothesis that is not smaller, as there is no measure",
    ),
    (
        "two lemmas that prove each other",
        CLAUSES,
        "((define-fun P ((x List)) Bool true))
        ; lemma l () false :case (true :use ((m)))
        ; lemma m () false :case (true :use ((l)))",
        "lemma l: case 1: lemma m is not proven before, and its instance is not smaller, as there is no \
         measure",
    ),
    (
        "two lemmas that prove each other for equal values",
        CLAUSES,
        "((define-fun P ((x List)) Bool true))
        ; lemma l ((x List)) false :measure (0) :case (true :use ((m (rest x))))
        ; lemma m ((x List)) false :measure (0) :case (true :use ((l x)))",
        "lemma m: case 1: lemma l is not proven before, and its instance is not smaller",
    ),
    (
        "two lemmas that prove each other for parts of nil",
        CLAUSES,
        "((define-fun P ((x List)) Bool true))
        ; lemma l ((x List)) false :measure (0) :case (true :use ((m (rest x))))
        ; lemma m ((x List)) false :measure (0) :case (true :use ((l (rest x))))",
        "lemma l: that the instance of m in case 1 is smaller does not hold",
    ),
    (
        "two lemmas that prove each other, one of them for integers",
        CLAUSES,
        "((define-fun P ((x List)) Bool true))
        ; lemma l ((x List)) false :measure (0) :case (true :use ((m 0)))
        ; lemma m ((n Int)) false :measure (0) :case (true :use ((l nil)))",
        "lemma l: case 1: its measure does not suit that of m",
    ),
    (
        "a lemma between two that prove each other",
        CLAUSES,
        "((define-fun P ((x List)) Bool true))
        ; lemma l ((x List)) true :measure (0) :case (((_ is cons) x) :use ((m (rest x)))) :case (true)
        ; lemma k ((x List)) true :measure (0) :case (true :use ((l x)))
        ; lemma m ((x List)) true :measure (0) :case (true)",
        "lemma k: case 1: lemma l is not proven before, and its instance is not smaller",
    ),
    (
        "a hypothesis for a part of nil",
        CLAUSES,
        "((define-fun P ((x List)) Bool true))
        ; lemma l ((x List)) false :measure (0) :case (true :induction (((rest x))))",
        "lemma l: that an induction hypothesis of case 1 is smaller does not hold",
    ),
    (
        "a hypothesis below zero",
        CLAUSES,
        "((define-fun P ((x List)) Bool true))
        ; lemma l ((n Int)) false :measure (0) :case (true :induction (((- n 1))))",
        "lemma l: that an induction hypothesis of case 1 is smaller does not hold",
    ),
    (
        "a hypothesis for the field of another constructor's argument",
        CLAUSES,
        "((define-fun P ((x List)) Bool true))
        ; lemma l ((n Int)) false :measure (0) :case (true :induction (((first (cons n nil)))))",
        "lemma l: that an induction hypothesis of case 1 is smaller does not hold",
    ),
    (
        "an unfolding of a predicate",
        CLAUSES,
        "((define-fun P ((x List)) Bool true))
        ; lemma l () (not (P nil)) :case (true :unfold ((P nil)))",
        "not a call of a function",
    ),
    (
        "the verdict of a refutation",
        CLAUSES,
        "unsat ((define-fun-rec f! () Int 1) (define-fun P ((x List)) Bool true))
        ; measure f! ()",
        "a model means sat",
    ),
    (
        "a let whose name a pattern binds again",
        EMPTY,
        "((define-fun-rec f! ((p Int) (x List)) Bool
          (let ((y p)) (match x ((nil false) ((cons p q) (distinct p y))))))
        (define-fun P ((x List)) Bool (f! 0 (cons 1 nil))))
        ; measure f! ()
        ; lemma l ((a Int) (x List)) (not (f! a x)) :case (true :unfold ((f! a x)))",
        "p is bound by a quantifier or a pattern, and occurs in a `let`",
    ),
    (
        "a let whose value a quantifier captures",
        EMPTY,
        "((define-fun-rec f! () Bool
          (forall ((n Int)) (let ((m n)) (exists ((n Int)) (distinct n m)))))
        (define-fun P ((x List)) Bool f!))
        ; measure f! ()
        ; lemma l () (not f!) :case (true :unfold (f!))",
        "n is bound by a quantifier or a pattern, and occurs in a `let`",
    ),
    (
        "a quoted symbol that ends with a backslash",
        EMPTY,
        "((define-fun-rec f! () Bool (let ((|a\\| false)) |a\\|)) (define-fun P ((x List)) Bool f!))
        ; measure f! ()",
        "solvers may read this differently",
    ),
];
