; A query without a predicate: x > 5 and x < 7 => false over the integers.
; Unsafe: x = 6.

(set-logic HORN)
(assert (forall ((x Int)) (=> (and (> x 5) (< x 7)) false)))
(check-sat)
