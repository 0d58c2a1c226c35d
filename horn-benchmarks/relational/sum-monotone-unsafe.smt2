; A sum grows with the number of its terms. Not so: for a = -1 and c = 0.
(set-logic HORN)
(declare-fun sum (Int Int) Bool)
(assert (forall ((x Int)) (=> (<= x 0) (sum x 0))))
(assert (forall ((x Int) (y Int)) (=> (and (> x 0) (sum (- x 1) y)) (sum x (+ x y)))))
(assert (forall ((a Int) (b Int) (c Int) (d Int)) (=> (and (sum a b) (sum c d) (< a c) (>= b d)) false)))
(check-sat)
