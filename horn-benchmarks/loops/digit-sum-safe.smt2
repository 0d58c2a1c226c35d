; d = digits of n (n in 0..999) by repeated division by 10; assert d <= 3
; Safe: three rounds bring n to 0.
(set-logic HORN)

(declare-fun D (Int Int) Bool)

(assert (forall ((n Int))
  (=> (and (<= 0 n) (<= n 999)) (D n 0))))
(assert (forall ((n Int) (d Int) (m Int))
  (=> (and (D n d) (> n 0) (= m (div n 10))) (D m (+ d 1)))))
(assert (forall ((n Int) (d Int))
  (=> (and (D n d) (= n 0) (> d 3)) false)))

(check-sat)
