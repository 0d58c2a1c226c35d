; Syntax: quantified variables that occur nowhere, of all sorts; a clause whose body has no variable of the head.
; Safe: P holds of positive numbers.
(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun Q () Bool)
(assert (forall ((x Int) (u Real) (v (Array Int Bool)) (w (_ BitVec 3))) (=> (> x 0) (P x))))
(assert (forall ((x Int) (y Int)) (=> (P x) Q)))
(assert (forall ((x Int) (y Int)) (=> (and Q (> y 3)) (P y))))
(assert (forall ((x Int)) (=> (and (P x) (<= x 0)) false)))
(check-sat)
