; InterpChecker (ASE 2017): the update and use rules need a guard here. Only what is new in an interpolation.
; What the first path needs at D (x greater than 0) is met by the second one with x = 9, and still leads nowhere.
; Safe: at D x is 0, 1 or 9, and y is 0; x = 5 and y >= 1 are asked for.
(set-logic HORN)

(declare-fun A (Int Int) Bool)
(declare-fun D (Int Int) Bool)

(assert (forall ((x Int) (y Int)) (=> (and (= x 0) (= y 0)) (A x y))))
(assert (forall ((x Int) (y Int)) (=> (and (or (<= 0 x 1) (= x 9)) (= y 0)) (A x y))))
(assert (forall ((x Int) (y Int)) (=> (A x y) (D x y))))
(assert (forall ((x Int) (y Int)) (=> (and (D x y) (= x 5)) false)))
(assert (forall ((x Int) (y Int)) (=> (and (D x y) (>= y 1)) false)))

(check-sat)
