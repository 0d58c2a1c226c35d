; InterpChecker (ASE 2017): the update and use rules need a guard here. A derivation before the error is reported.
; What the first path needs at A (x greater than 0) holds on the second one, and still leads nowhere.
; Safe: x is 0 or 9, and 7 is asked for.
(set-logic HORN)

(declare-fun A (Int) Bool)

(assert (forall ((x Int)) (=> (= x 0) (A x))))
(assert (forall ((x Int)) (=> (= x 9) (A x))))
(assert (forall ((x Int)) (=> (and (A x) (= x 7)) false)))

(check-sat)
