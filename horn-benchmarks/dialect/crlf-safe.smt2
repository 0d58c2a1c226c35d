; Syntax: lines end in carriage return and line feed; tabs too.
; Safe: x > 0.
(set-logic HORN)
(declare-fun P (Int) Bool)
	(assert (P 1))
(assert (forall ((x Int))
	(=> (P x)	(P (+ x x)))))
(assert (forall ((x Int)) (=> (and (P x) (<= x 0)) false)))
(check-sat)
