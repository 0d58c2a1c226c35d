; A declared predicate that occurs in no clause.
; Unsafe: the query asks for P 2.

(set-logic HORN)
(declare-fun Unused (Int (Array Int Bool)) Bool)
(declare-fun P (Int) Bool)
(assert (P 2))
(assert (forall ((x Int)) (=> (and (P x) (= x 2)) false)))
(check-sat)
