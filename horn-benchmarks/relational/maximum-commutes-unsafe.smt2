; The maximum is the same in both orders. Not so: for a = -1 and b = -2.
(set-logic HORN)
(declare-fun max (Int Int Int) Bool)
(assert (forall ((x Int) (y Int)) (=> (<= x 0) (max x y y))))
(assert (forall ((x Int) (y Int)) (=> (and (> x 0) (<= y 0)) (max x y x))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (> x 0) (> y 0) (max (- x 1) (- y 1) z)) (max x y (+ z 1)))))
(assert (forall ((a Int) (b Int) (c Int) (d Int)) (=> (and (max a b c) (max b a d) (distinct c d)) false)))
(check-sat)
