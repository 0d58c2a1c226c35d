; A query without a predicate: x > 5 and x < 6 => false over the integers.
; Safe: no such integer.
(set-logic HORN)
(assert (forall ((x Int)) (=> (and (> x 5) (< x 6)) false)))
(check-sat)
