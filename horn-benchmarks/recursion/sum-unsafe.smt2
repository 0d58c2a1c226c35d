; sum(n) = n <= 0 ? 0 : n + sum(n-1). assert sum(n) >= n and sum(5) != 15
; Unsafe: sum(5) = 15.
(set-logic HORN)

(declare-fun Sum (Int Int) Bool)

(assert (forall ((n Int))
  (=> (<= n 0) (Sum n 0))))
(assert (forall ((n Int) (r Int))
  (=> (and (> n 0) (Sum (- n 1) r)) (Sum n (+ n r)))))
(assert (forall ((n Int) (r Int))
  (=> (and (Sum n r) (or (< r n) (and (= n 5) (= r 15)))) false)))

(check-sat)
