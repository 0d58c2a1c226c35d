; Syntax: Boolean expressions as arguments, also in body atoms, and constants true and false there.
; Safe: the second flag is the negation of the first.
(set-logic HORN)
(declare-fun F (Bool Bool Int) Bool)
(assert (forall ((x Int)) (F (> x 0) (<= x 0) x)))
(assert (forall ((x Int) (a Bool)) (=> (F a (not a) x) (F (and a (> x 1)) (or (not a) (<= x 1)) (- x 1)))))
(assert (forall ((x Int)) (=> (F true true x) false)))
(assert (forall ((x Int)) (=> (F (= x x) (not (< x x)) x) false)))
(check-sat)
