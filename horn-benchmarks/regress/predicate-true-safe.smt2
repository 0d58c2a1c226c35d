; A predicate that holds of everything, and a query on an empty constraint over it.
; Safe.
(set-logic HORN)
(declare-fun T (Int Int) Bool)
(assert (forall ((x Int) (y Int)) (T x y)))
(assert (forall ((x Int) (y Int)) (=> (and (T x y) (= (+ x x) (+ y y 1))) false)))
(check-sat)
