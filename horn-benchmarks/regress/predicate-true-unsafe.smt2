; A predicate that holds of everything, and a query on a non-empty constraint over it.
; Unsafe: (0, 1).

(set-logic HORN)
(declare-fun T (Int Int) Bool)
(assert (forall ((x Int) (y Int)) (T x y)))
(assert (forall ((x Int) (y Int)) (=> (and (T x y) (= (+ x x) (+ y y (- 2)))) false)))
(check-sat)
