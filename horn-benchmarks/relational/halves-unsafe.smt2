; Half a number grows with it. Not so: for a = 0 and c = 1.
(set-logic HORN)
(declare-fun half (Int Int) Bool)
(assert (forall ((x Int)) (=> (and (>= x 0) (< x 2)) (half x 0))))
(assert (forall ((x Int) (y Int)) (=> (and (>= x 2) (half (- x 2) y)) (half x (+ y 1)))))
(assert (forall ((a Int) (b Int) (c Int) (d Int)) (=> (and (half a b) (half c d) (< a c) (>= b d)) false)))
(check-sat)
