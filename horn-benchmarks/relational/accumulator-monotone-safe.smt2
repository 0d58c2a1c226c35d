; A sum with an accumulator grows with it.
(set-logic HORN)
(declare-fun acc (Int Int Int) Bool)
(assert (forall ((x Int) (y Int)) (=> (<= x 0) (acc x y y))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (> x 0) (acc (- x 1) (+ y x) z)) (acc x y z))))
(assert (forall ((a Int) (b Int) (c Int) (d Int) (e Int)) (=> (and (acc a b c) (acc a d e) (< b d) (>= c e)) false)))
(check-sat)
