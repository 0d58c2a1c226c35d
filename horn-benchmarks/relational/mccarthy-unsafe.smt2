; McCarthy's function has one value. Not so: for a = 99 and c = 100.
(set-logic HORN)
(declare-fun mc (Int Int) Bool)
(assert (forall ((x Int)) (=> (> x 100) (mc x (- x 10)))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (<= x 100) (mc (+ x 11) y) (mc y z)) (mc x z))))
(assert (forall ((a Int) (b Int) (c Int) (d Int)) (=> (and (mc a b) (mc c d) (< a c) (>= b d)) false)))
(check-sat)
