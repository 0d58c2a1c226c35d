; Ackermann's function. assert A(m, n) > n and A(2, 2) is not 7
; Unsafe: A(2, 2) = 7 (27 calls).
(set-logic HORN)

(declare-fun A (Int Int Int) Bool)

(assert (forall ((m Int) (n Int) (r Int))
  (=> (and (= m 0) (= r (+ n 1))) (A m n r))))
(assert (forall ((m Int) (n Int) (r Int))
  (=> (and (> m 0) (= n 0) (A (- m 1) 1 r)) (A m n r))))
(assert (forall ((m Int) (n Int) (s Int) (r Int))
  (=> (and (> m 0) (> n 0) (A m (- n 1) s) (A (- m 1) s r)) (A m n r))))
(assert (forall ((m Int) (n Int) (r Int))
  (=> (and (A m n r) (= m 2) (= n 2) (= r 7)) false)))

(check-sat)
