; A power of two grows with its exponent.
(set-logic HORN)
(declare-fun pow2 (Int Int) Bool)
(assert (forall ((x Int)) (=> (<= x 0) (pow2 x 1))))
(assert (forall ((x Int) (y Int)) (=> (and (> x 0) (pow2 (- x 1) y)) (pow2 x (+ y y)))))
(assert (forall ((a Int) (b Int) (c Int) (d Int)) (=> (and (pow2 a b) (pow2 c d) (<= a c) (> b d)) false)))
(check-sat)
