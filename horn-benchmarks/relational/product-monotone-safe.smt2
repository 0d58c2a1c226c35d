; A product grows with its second factor.
(set-logic HORN)
(declare-fun mult (Int Int Int) Bool)
(assert (forall ((y Int)) (mult 0 y 0)))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (> x 0) (mult (- x 1) y z)) (mult x y (+ z y)))))
(assert (forall ((a Int) (b Int) (c Int) (d Int) (e Int)) (=> (and (mult a b c) (mult a d e) (<= b d) (> c e)) false)))
(check-sat)
