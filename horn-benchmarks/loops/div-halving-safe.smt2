; x = nd in 0..100, k = 0; while (x > 0) { x = x / 2; k++; } assert k <= 7
; Safe: after k rounds x <= 100 / 2^k.
(set-logic HORN)

(declare-fun Inv (Int Int) Bool)

(assert (forall ((x Int))
  (=> (and (<= 0 x) (<= x 100)) (Inv x 0))))
(assert (forall ((x Int) (k Int))
  (=> (and (Inv x k) (> x 0)) (Inv (div x 2) (+ k 1)))))
(assert (forall ((x Int) (k Int))
  (=> (and (Inv x k) (> k 7)) false)))

(check-sat)
