; The greatest common divisor is the same in both orders. Not so: gcd(2, 2) is 2, gcd(2, 3) is 1.
(set-logic HORN)
(declare-fun gcd (Int Int Int) Bool)
(assert (forall ((x Int)) (gcd x 0 x)))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (> y 0) (> y x) (gcd y x z)) (gcd x y z))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (> y 0) (<= y x) (gcd (- x y) y z)) (gcd x y z))))
(assert (forall ((a Int) (b Int) (c Int) (d Int)) (=> (and (gcd a b c) (gcd b (+ a 1) d) (> a 0) (> b 0) (distinct c d)) false)))
(check-sat)
