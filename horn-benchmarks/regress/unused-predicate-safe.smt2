; A declared predicate that occurs in no clause.
; Safe: P holds of 2 only.
(set-logic HORN)
(declare-fun Unused (Int (Array Int Bool)) Bool)
(declare-fun P (Int) Bool)
(assert (P 2))
(assert (forall ((x Int)) (=> (and (P x) (= x 3)) false)))
(check-sat)
