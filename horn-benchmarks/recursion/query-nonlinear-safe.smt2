; A query over two predicates: odd multiples and even multiples of 3 never meet.
; Safe: A holds of odd numbers, B of even ones.
(set-logic HORN)

(declare-fun A (Int) Bool)
(declare-fun B (Int) Bool)

(assert (A 3))
(assert (forall ((x Int))
  (=> (A x) (A (+ x 6)))))
(assert (B 12))
(assert (forall ((x Int))
  (=> (B x) (B (- x 6)))))
(assert (forall ((x Int))
  (=> (and (A x) (B x)) false)))

(check-sat)
