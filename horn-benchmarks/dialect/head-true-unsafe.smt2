; Syntax: clauses with head true (they say nothing) among others; one of them negates a query.
; Unsafe: P 3 is derived.

(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int)) (=> (< x 0) true)))
(assert (P 0))
(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
(assert (forall ((x Int)) (=> (and (P x) (> x 100)) true)))
(assert (forall ((x Int)) (=> (and (P x) (= x 3)) false)))
(assert true)
(check-sat)
