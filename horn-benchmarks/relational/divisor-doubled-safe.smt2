; The divisor of two even numbers is twice that of their halves.
(set-logic HORN)
(declare-fun gcd (Int Int Int) Bool)
(assert (forall ((x Int)) (gcd x 0 x)))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (> y 0) (> y x) (gcd y x z)) (gcd x y z))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (> y 0) (<= y x) (gcd (- x y) y z)) (gcd x y z))))
(assert (forall ((a Int) (b Int) (c Int) (d Int)) (=> (and (gcd a b c) (gcd (+ a a) (+ b b) d) (> a 0) (> b 0) (distinct d (+ c c))) false)))
(check-sat)
