; InterpChecker (ASE 2017): the update and use rules need a guard here. Closed under loops.
; The last location that a path reaches is not safe because the path ends there: the loop goes on.
; Unsafe: x gets to 6.
(set-logic HORN)

(declare-fun L (Int) Bool)

(assert (forall ((x Int)) (=> (= x 0) (L x))))
(assert (forall ((x Int)) (=> (L x) (L (+ x 1)))))
(assert (forall ((x Int)) (=> (and (L x) (> x 5)) false)))

(check-sat)
