; Ackermann's function for m <= 1 only: A(1, n) = n + 2. assert A(1, n) = n + 3
; Unsafe: A(1, 0) = 2.
(set-logic HORN)

(declare-fun A (Int Int Int) Bool)

(assert (forall ((m Int) (n Int) (r Int))
  (=> (and (= m 0) (>= n 0) (= r (+ n 1))) (A m n r))))
(assert (forall ((m Int) (n Int) (r Int))
  (=> (and (= m 1) (= n 0) (A 0 1 r)) (A m n r))))
(assert (forall ((m Int) (n Int) (s Int) (r Int))
  (=> (and (= m 1) (> n 0) (A 1 (- n 1) s) (A 0 s r)) (A m n r))))
(assert (forall ((m Int) (n Int) (r Int))
  (=> (and (A m n r) (= m 1) (not (= r (+ n 3)))) false)))

(check-sat)
