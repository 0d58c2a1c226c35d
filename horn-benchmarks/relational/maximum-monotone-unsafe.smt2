; The maximum grows with both arguments. Not so: for a = d = 5, b = 1, e = 2.
(set-logic HORN)
(declare-fun max (Int Int Int) Bool)
(assert (forall ((x Int) (y Int)) (=> (<= x 0) (max x y y))))
(assert (forall ((x Int) (y Int)) (=> (and (> x 0) (<= y 0)) (max x y x))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (> x 0) (> y 0) (max (- x 1) (- y 1) z)) (max x y (+ z 1)))))
(assert (forall ((a Int) (b Int) (c Int) (d Int) (e Int) (f Int)) (=> (and (max a b c) (max d e f) (<= a d) (< b e) (>= c f)) false)))
(check-sat)
