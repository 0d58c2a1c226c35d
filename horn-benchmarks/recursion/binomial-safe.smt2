; Pascal's triangle: C(n, 0) = C(n, n) = 1, C(n, k) = C(n-1, k-1) + C(n-1, k). assert C(n, k) >= 1
; Safe: sums of positive numbers.
(set-logic HORN)

(declare-fun C (Int Int Int) Bool)

(assert (forall ((n Int))
  (=> (>= n 0) (C n 0 1))))
(assert (forall ((n Int))
  (=> (>= n 0) (C n n 1))))
(assert (forall ((n Int) (k Int) (a Int) (b Int))
  (=> (and (> n k) (> k 0) (C (- n 1) (- k 1) a) (C (- n 1) k b)) (C n k (+ a b)))))
(assert (forall ((n Int) (k Int) (r Int))
  (=> (and (C n k r) (< r 1)) false)))

(check-sat)
