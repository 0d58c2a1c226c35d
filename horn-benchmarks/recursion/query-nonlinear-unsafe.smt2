; A query over two predicates: odd multiples and even multiples of 3 meet (the second predicate starts at 9).
; Unsafe: 9 is in both.
(set-logic HORN)

(declare-fun A (Int) Bool)
(declare-fun B (Int) Bool)

(assert (A 3))
(assert (forall ((x Int))
  (=> (A x) (A (+ x 6)))))
(assert (B 9))
(assert (forall ((x Int))
  (=> (B x) (B (- x 6)))))
(assert (forall ((x Int))
  (=> (and (A x) (B x)) false)))

(check-sat)
