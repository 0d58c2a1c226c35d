; InterpChecker (ASE 2017): the update and use rules need a guard here. One blocker for each leaving transition.
; Both transitions leave A for D, so D being full does not make A full: a path through the second one is open.
; Unsafe: x = 0 at A gives x = 1 at D.
(set-logic HORN)

(declare-fun A (Int) Bool)
(declare-fun D (Int) Bool)

(assert (forall ((x Int)) (=> (= x (- 5)) (A x))))
(assert (forall ((x Int)) (=> (= x 0) (A x))))
(assert (forall ((x Int)) (=> (A x) (D x))))
(assert (forall ((x Int)) (=> (A x) (D (+ x 1)))))
(assert (forall ((x Int)) (=> (and (D x) (> x 0)) false)))

(check-sat)
