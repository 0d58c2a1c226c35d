; Ackermann's function. assert A(m, n) >= m + n + 1 for m, n >= 0
; Safe: A(m, n) >= m + n + 1 by induction.
(set-logic HORN)

(declare-fun A (Int Int Int) Bool)

(assert (forall ((n Int))
  (=> (>= n 0) (A 0 n (+ n 1)))))
(assert (forall ((m Int) (r Int))
  (=> (and (> m 0) (A (- m 1) 1 r)) (A m 0 r))))
(assert (forall ((m Int) (n Int) (s Int) (r Int))
  (=> (and (> m 0) (> n 0) (A m (- n 1) s) (A (- m 1) s r)) (A m n r))))
(assert (forall ((m Int) (n Int) (r Int))
  (=> (and (A m n r) (>= m 0) (>= n 0) (< r (+ m n 1))) false)))

(check-sat)
