; Ackermann's function. assert A(m, n) >= m + n + 4 for m, n >= 2
; Unsafe: A(2, 2) = 7 < 8.
(set-logic HORN)

(declare-fun A (Int Int Int) Bool)

(assert (forall ((n Int))
  (=> (>= n 0) (A 0 n (+ n 1)))))
(assert (forall ((m Int) (r Int))
  (=> (and (> m 0) (A (- m 1) 1 r)) (A m 0 r))))
(assert (forall ((m Int) (n Int) (s Int) (r Int))
  (=> (and (> m 0) (> n 0) (A m (- n 1) s) (A (- m 1) s r)) (A m n r))))
(assert (forall ((m Int) (n Int) (r Int))
  (=> (and (A m n r) (>= m 2) (>= n 2) (< r (+ m n 4))) false)))

(check-sat)
