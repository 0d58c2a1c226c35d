; InterpChecker (ASE 2017): the update and use rules need a guard here. Only what is new in an interpolation.
; What the first path needs at D (x at least 1) is met by the second one, which ends elsewhere.
; Safe: x is at most 1 and y is 0 at D.
(set-logic HORN)

(declare-fun A (Int Int) Bool)
(declare-fun D (Int Int) Bool)

(assert (forall ((x Int) (y Int)) (=> (and (= x 0) (= y 0)) (A x y))))
(assert (forall ((x Int) (y Int)) (=> (and (<= 0 x 1) (= y 0)) (A x y))))
(assert (forall ((x Int) (y Int)) (=> (A x y) (D x y))))
(assert (forall ((x Int) (y Int)) (=> (and (D x y) (= x 5)) false)))
(assert (forall ((x Int) (y Int)) (=> (and (D x y) (>= y 1)) false)))

(check-sat)
