; Ackermann's function has one value. Not so: for a = 0, b = 2 and d = 3.
(set-logic HORN)
(declare-fun ack (Int Int Int) Bool)
(assert (forall ((m Int) (n Int)) (=> (= m 0) (ack m n (+ n 1)))))
(assert (forall ((m Int) (n Int) (r Int)) (=> (and (> m 0) (= n 0) (ack (- m 1) 1 r)) (ack m n r))))
(assert (forall ((m Int) (n Int) (r Int) (s Int)) (=> (and (> m 0) (> n 0) (ack m (- n 1) s) (ack (- m 1) s r)) (ack m n r))))
(assert (forall ((a Int) (b Int) (c Int) (d Int) (e Int)) (=> (and (ack a b c) (ack a d e) (< b d) (> c 2) (>= (+ c 1) e)) false)))
(check-sat)
