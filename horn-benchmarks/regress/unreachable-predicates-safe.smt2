; P and Q imply each other, but no fact starts them.
; Safe: both false.
(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun Q (Int) Bool)
(assert (forall ((x Int)) (=> (P x) (Q (+ x 1)))))
(assert (forall ((x Int)) (=> (Q x) (P (* 2 x)))))
(assert (forall ((x Int)) (=> (Q x) false)))
(check-sat)
