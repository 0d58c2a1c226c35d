; McCarthy's function: M(n) = n > 100 ? n - 10 : M(M(n + 11)). assert n <= 102 => M(n) = 91
; Unsafe: M(102) = 92.
(set-logic HORN)

(declare-fun M (Int Int) Bool)

(assert (forall ((n Int) (r Int))
  (=> (and (> n 100) (= r (- n 10))) (M n r))))
(assert (forall ((n Int) (m Int) (r Int) (t Int))
  (=> (and (<= n 100) (= m (+ n 11)) (M m t) (M t r)) (M n r))))
(assert (forall ((n Int) (r Int))
  (=> (and (M n r) (<= n 102) (not (= r 91))) false)))

(check-sat)
