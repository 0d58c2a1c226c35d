; Ackermann's function has one value.
(set-logic HORN)
(declare-fun ack (Int Int Int) Bool)
(assert (forall ((m Int) (n Int)) (=> (= m 0) (ack m n (+ n 1)))))
(assert (forall ((m Int) (n Int) (r Int)) (=> (and (> m 0) (= n 0) (ack (- m 1) 1 r)) (ack m n r))))
(assert (forall ((m Int) (n Int) (r Int) (s Int)) (=> (and (> m 0) (> n 0) (ack m (- n 1) s) (ack (- m 1) s r)) (ack m n r))))
(assert (forall ((a Int) (b Int) (c Int) (d Int)) (=> (and (ack a b c) (ack a b d) (distinct c d)) false)))
(check-sat)
