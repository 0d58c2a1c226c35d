//! Changes of all kinds that break a proof that reversing a list twice gives the list.

use super::Proof;

/// Reversing a list twice gives the list.
pub const TWICE: Proof = Proof {
    name: "reversing twice",
    clauses: "(set-logic HORN)
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
  (=> (and (reverse x y) (reverse y z) (differ z x)) false)))",
    // There is a comment between the lines of the certificate.
    witness: "(
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
",
    breaks: &[
        // Parts that are missing.
        (
            "no hypothesis for an element at the end",
            ":induction (((rest x) h)) ",
            "",
            "lemma last: case 2 does not hold",
        ),
        (
            "no hypothesis for the rest",
            ":induction (((rest c))) ",
            "",
            "lemma twice: case 2 does not hold",
        ),
        (
            "no instance of a lemma",
            ":use ((last (rev! (rest c)) (first c))) ",
            "",
            "lemma twice: case 2 does not hold",
        ),
        (
            "no unfolding of the inner call",
            " (rev! x) (app!",
            " (app!",
            "lemma last: case 2 does not hold",
        ),
        (
            "no unfolding at all",
            ":unfold ((rev! c)))\n",
            ")\n",
            "lemma twice: case 2 does not hold",
        ),
        (
            "no case of nil",
            ":case (((_ is nil) c) :unfold ((rev! c))) ",
            "",
            "lemma twice: that its cases cover all values does not hold",
        ),
        (
            "no lemma about the last element",
            "; lemma last",
            "; a lemma last",
            "there is no lemma last",
        ),
        (
            "no measure of a function",
            "; measure app! (0)",
            ";",
            "function app!: it is recursive and has no measure",
        ),
        (
            "no measure of a lemma",
            "c) :measure (0) ",
            "c) ",
            "lemma twice: case 2: an induction hypothesis that is not smaller, as there is no measure",
        ),
        // Other parts than those that the proof needs.
        (
            "an instance of a lemma for another element",
            "(first c))) ",
            "(first (rest c)))) ",
            "lemma twice: case 2 does not hold",
        ),
        (
            "an unfolding with other arguments",
            ":unfold ((rev! c)))\n",
            ":unfold ((rev! (rest c))))\n",
            "lemma twice: case 2 does not hold",
        ),
        (
            "an unfolding of another function",
            ":unfold ((rev! c)))\n",
            ":unfold ((app! c c)))\n",
            "lemma twice: case 2 does not hold",
        ),
        (
            "an unfolding of a selector",
            "((rev! c)))\n",
            "((rest c)))\n",
            "not a call of a function",
        ),
        (
            "an unfolding of a function that is not defined",
            "((rev! c)))\n",
            "((ver! c)))\n",
            "not a call of a function",
        ),
        (
            "an unfolding of a variable",
            "((rev! c)))\n",
            "(c))\n",
            "not a call of a function",
        ),
        (
            "an unfolding with too many arguments",
            "((rev! c)))\n",
            "((rev! c nil)))\n",
            "lemma twice: case 2: rev! needs 1 arguments",
        ),
        (
            "an unfolding with an argument of another sort",
            "((rev! c)))\n",
            "((rev! (first c))))\n",
            "Z3 rejects the certificate",
        ),
        (
            "an unfolding with an unknown variable",
            "((rev! c)))\n",
            "((rev! d)))\n",
            "unknown constant d",
        ),
        (
            "a guard that never holds",
            "(((_ is nil) c)",
            "(false",
            "lemma twice: that its cases cover all values does not hold",
        ),
        (
            "a guard that holds for more values",
            "(((_ is nil) c)",
            "(true",
            "lemma twice: case 1 does not hold",
        ),
        (
            "the guards of both cases exchanged",
            "(((_ is cons) c)",
            "(((_ is nil) c)",
            "lemma twice: that its cases cover all values does not hold",
        ),
        // Hypotheses that are not smaller.
        (
            "a hypothesis for the value itself",
            "(((rest c)))",
            "((c))",
            "lemma twice: case 2: an induction hypothesis that is not smaller",
        ),
        (
            "a hypothesis for a greater value",
            "(((rest c)))",
            "(((cons (first c) c)))",
            "lemma twice: case 2: an induction hypothesis that is not smaller",
        ),
        (
            "a hypothesis for the result of a function",
            "(((rest c)))",
            "(((rev! (rest c))))",
            "lemma twice: case 2: an induction hypothesis that is not smaller",
        ),
        (
            "a hypothesis for a rest that no guard has",
            "(((rest c)))",
            "(((rest (rest c))))",
            "that an induction hypothesis of case 2 is smaller does not hold",
        ),
        (
            "a hypothesis under the wrong tester",
            ":case (((_ is nil) c) :unfold",
            ":case (((_ is nil) c) :induction (((rest c))) :unfold",
            "that an induction hypothesis of case 1 is smaller does not hold",
        ),
        (
            "a hypothesis that is smaller in a variable that is not measured",
            "(((rest x) h))",
            "((x (pred h)))",
            "lemma last: case 2: an induction hypothesis that is not smaller",
        ),
        (
            "a hypothesis for a part of another variable",
            "(((rest c)))",
            "(((rest d)))",
            "lemma twice: case 2: an induction hypothesis that is not smaller",
        ),
        (
            "a hypothesis with too few terms",
            "(((rest x) h))",
            "(((rest x)))",
            "lemma last: case 2: an instance needs 2 terms",
        ),
        (
            "a hypothesis with too many terms",
            "(((rest c)))",
            "(((rest c) c))",
            "lemma twice: case 2: an instance needs 1 terms",
        ),
        (
            "a hypothesis with terms of other sorts",
            "(((rest x) h))",
            "(((rest x) x))",
            "Z3 rejects the certificate",
        ),
        // Instances of lemmas that are not proven before.
        (
            "an instance of the lemma itself",
            "((last (rev!",
            "((twice (rev!",
            "case 2: an instance of twice needs 1 terms",
        ),
        (
            "an instance of a later lemma",
            "(((rest x) h)) ",
            "(((rest x) h)) :use ((twice x)) ",
            "case 2: lemma twice is not proven before, and its instance is not smaller",
        ),
        (
            "an instance of no lemma",
            "((last (rev! (rest c)) (first c)))",
            "((first (rev! (rest c)) (first c)))",
            "there is no lemma first",
        ),
        (
            "an instance without its lemma",
            "((last (rev! (rest c)) (first c)))",
            "(())",
            "the name of a lemma is missing",
        ),
        (
            "an instance with too few terms",
            "((last (rev! (rest c)) (first c)))",
            "((last c))",
            "lemma twice: case 2: an instance of last needs 2 terms",
        ),
        (
            "an instance with terms in another order",
            "((last (rev! (rest c)) (first c)))",
            "((last (first c) (rev! (rest c))))",
            "Z3 rejects the certificate",
        ),
        (
            "two lemmas of one name",
            "lemma last",
            "lemma twice",
            "two lemmas twice",
        ),
        // Statements.
        (
            "a statement that does not hold",
            "(= (rev! (rev! c)) c)",
            "(= (rev! c) c)",
            "lemma twice: case 2 does not hold",
        ),
        (
            "a statement that is no formula",
            "(= (rev! (rev! c)) c)",
            "(rev! c)",
            "Z3 rejects the certificate",
        ),
        (
            "a statement with a free variable",
            "(= (rev! (rev! c)) c)",
            "(= (rev! (rev! d)) d)",
            "unknown constant d",
        ),
        (
            "a statement about a predicate",
            "(= (rev! (rev! c)) c)",
            "(reverse c c)",
            "unknown constant reverse",
        ),
        (
            "a variable of no sort",
            "((c List))",
            "((c Lists))",
            "unknown sort 'Lists'",
        ),
        (
            "a variable twice",
            "((x List) (h Nat))",
            "((x List) (x List))",
            "two variables x",
        ),
        (
            "a variable with the name of a function",
            "((c List))",
            "((rev! List))",
            "rev! cannot name a variable",
        ),
        (
            "a variable with the name of a selector",
            "(h Nat)",
            "(rest Nat)",
            "rest cannot name a variable",
        ),
        // Form.
        (
            "a lemma without a statement",
            "; lemma twice ((c List)) (= (rev! (rev! c)) c) :measure",
            "; lemma twice ((c List))\n; :measure",
            "a lemma is a name, variables and a statement",
        ),
        (
            "a lemma that is cut off",
            ":use ((last (rev! (rest c)) (first c)))",
            ":use ((last (rev! (rest c)) (first c)))\n; ",
            "this does not end on its line",
        ),
        (
            "a name that is cut by a parenthesis",
            "; lemma twice",
            "; lemma tw(ice",
            "this does not end on its line",
        ),
        (
            "a parenthesis too many",
            "(first c))) ",
            "(first c)))) ",
            "this does not end on its line",
        ),
        (
            "an unknown part of a lemma",
            " :case",
            " :kase",
            ":kase is no part of a lemma",
        ),
        (
            "an unknown part of a case",
            " :use",
            " :used",
            ":used is no part of a case",
        ),
        (
            "a part without its value",
            " :measure (0) :case",
            " :measure :case",
            "a keyword and its value are needed",
        ),
        (
            "a case without a guard",
            ":case (((_ is nil) c) :unfold ((rev! c)))",
            ":case ()",
            "a case without its guard",
        ),
        (
            "two measures of a lemma",
            "c) :measure (0) ",
            "c) :measure (0) :measure (0) ",
            "a lemma with two measures",
        ),
        (
            "a measure with a position beyond the variables",
            "c) :measure (0) ",
            "c) :measure (1) ",
            "lemma twice: a measure with a position beyond the variables",
        ),
        (
            "a measured variable in the place of its position",
            "c) :measure (0) ",
            "c) :measure (c) ",
            "a position is needed",
        ),
        (
            "a measure of another function",
            "; measure rev! (0)",
            "; measure ver! (0)",
            "there is no function ver!",
        ),
        (
            "two measures of a function",
            "; measure rev! (0)",
            "; measure app! (0)",
            "two measures of app!",
        ),
        (
            "a measured position twice",
            "; measure rev! (0)",
            "; measure rev! (0 0)",
            "a position that is there twice",
        ),
        (
            "a measure that is no list",
            "; measure rev! (0)",
            "; measure rev! 0",
            "a list is needed",
        ),
        (
            "a measure with a position beyond the arguments",
            "measure app! (0)",
            "measure app! (2)",
            "function app!: a measure with a position beyond the arguments",
        ),
        (
            "a measure of an argument that stays",
            "measure app! (0)",
            "measure app! (1)",
            "function app!: a call of app! whose arguments do not become smaller",
        ),
        // Inconsistent definitions.
        (
            "recursion without a tester",
            "(ite ((_ is nil) x) y (cons (first x) (app! (rest x) y)))",
            "(cons zero (app! (rest x) y))",
            "function app!: that a call of app! has smaller arguments does not hold",
        ),
        (
            "recursion under the wrong tester",
            "(ite ((_ is nil) x) y (cons",
            "(ite ((_ is cons) x) y (cons",
            "function app!: that a call of app! has smaller arguments does not hold",
        ),
        (
            "recursion under the tester of another argument",
            "(ite ((_ is nil) x) y (cons",
            "(ite ((_ is nil) y) y (cons",
            "function app!: that a call of app! has smaller arguments does not hold",
        ),
        (
            "recursion with a part that is one too deep",
            "(app! (rest x) y))))",
            "(app! (rest (rest x)) y))))",
            "function app!: that a call of app! has smaller arguments does not hold",
        ),
        (
            "recursion in a condition",
            "(ite ((_ is nil) x) y (cons (first x) (app! (rest x) y)))",
            "(ite (= (app! (rest x) y) nil) y x)",
            "function app!: that a call of app! has smaller arguments does not hold",
        ),
        (
            "recursion with the same arguments",
            "(app! (rest x) y))))",
            "(app! x y))))",
            "function app!: a call of app! whose arguments do not become smaller",
        ),
        (
            "recursion with exchanged arguments",
            "(app! (rest x) y))))",
            "(app! y (rest x)))))",
            "function app!: a call of app! whose arguments do not become smaller",
        ),
        (
            "recursion with a greater argument",
            "(app! (rest x) y))))",
            "(app! (cons zero x) y))))",
            "function app!: a call of app! whose arguments do not become smaller",
        ),
        (
            "recursion inside of a measured argument",
            "(app! (rest x) y))))",
            "(app! (app! (rest x) y) y))))",
            "function app!: a call of app! whose arguments do not become smaller",
        ),
        (
            "recursion inside of a match",
            "(ite ((_ is nil) x) y (cons (first x) (app! (rest x) y)))",
            "(match x ((nil y) ((cons a z) (app! z y))))",
            "function app!: a call inside of a `match`",
        ),
        (
            "recursion with a missing argument",
            "(app! (rest x) y))))",
            "(app! (rest x)))))",
            "function app!: app! is called with 1 arguments",
        ),
        (
            "recursion that hides its name",
            "(app! (rest x) y))))",
            "((as app! List) (rest x) y))))",
            "function app!: a function that is called without its name",
        ),
        (
            "a call of a later function",
            "(app! (rest x) y))))",
            "(rev! y))))",
            "function app!: it calls rev!, which is defined after it",
        ),
        (
            "a body of another sort",
            "(cons (first x) (app! (rest x) y))",
            "zero",
            "Z3 rejects the certificate",
        ),
        (
            "a body with a free variable",
            "(cons (first x) (app! (rest x) y))",
            "z",
            "unknown constant z",
        ),
        (
            "a definition without its body",
            "\n  (ite ((_ is nil) x) y (cons (first x) (app! (rest x) y))))",
            ")",
            "a malformed definition",
        ),
        // Names.
        (
            "a function named as a comparison",
            "app!",
            "<=",
            "<= cannot name a function",
        ),
        (
            "a function named as a selector",
            "app!",
            "pred",
            "pred is defined, but the problem uses it",
        ),
        (
            "a function named as a predicate",
            "app!",
            "differ",
            "differ is defined twice",
        ),
        (
            "two functions of one name",
            "rev!",
            "app!",
            "app! is defined twice",
        ),
        (
            "a parameter named as a selector",
            "((x List) (y List)) List",
            "((first List) (y List)) List",
            "first cannot name a variable",
        ),
        (
            "a let that names a selector",
            "(let ((n nil)) (cons (first x) n))",
            "(let ((first x)) (cons (first x) nil))",
            "first cannot name a `let`",
        ),
        (
            "a let whose value a pattern captures",
            "(let ((n nil)) (cons (first x) n))",
            "(let ((n x)) (match nil (((cons q x) n) (q nil))))",
            "x is bound by a quantifier or a pattern, and occurs in a `let`",
        ),
        // Wrong models with a correct certificate.
        (
            "a model wrong for a fact",
            "Bool (distinct x y)",
            "Bool (and (distinct x y) ((_ is cons) x))",
            "the assert in line 13 does not hold",
        ),
        (
            "a model wrong for a step",
            "(= y (rev! x))",
            "(= x y)",
            "the assert in line 11 does not hold",
        ),
        (
            "a model wrong for the query",
            "Bool (distinct x y)",
            "Bool true",
            "the assert in line 18",
        ),
        (
            "a predicate that is not defined",
            "(define-fun differ ((x List) (y List)) Bool (distinct x y))",
            "",
            "differ is not defined",
        ),
        (
            "a predicate with other sorts",
            "(define-fun differ ((x List) (y List))",
            "(define-fun differ ((x List) (y Nat))",
            "Z3 rejects",
        ),
    ],
};
