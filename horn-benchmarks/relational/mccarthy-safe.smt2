; McCarthy's function has one value.
(set-logic HORN)
(declare-fun mc (Int Int) Bool)
(assert (forall ((x Int)) (=> (> x 100) (mc x (- x 10)))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (<= x 100) (mc (+ x 11) y) (mc y z)) (mc x z))))
(assert (forall ((a Int) (b Int) (c Int)) (=> (and (mc a b) (mc a c) (distinct b c)) false)))
(check-sat)
