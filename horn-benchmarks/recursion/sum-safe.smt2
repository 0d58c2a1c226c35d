; sum(n) = n <= 0 ? 0 : n + sum(n-1). assert sum(n) >= n
; Safe: the sum is never negative.
(set-logic HORN)

(declare-fun Sum (Int Int) Bool)

(assert (forall ((n Int))
  (=> (<= n 0) (Sum n 0))))
(assert (forall ((n Int) (r Int))
  (=> (and (> n 0) (Sum (- n 1) r)) (Sum n (+ n r)))))
(assert (forall ((n Int) (r Int))
  (=> (and (Sum n r) (or (< r n) false)) false)))

(check-sat)
