; Fibonacci's function is monotone. Not so: for a = 0 and c = 1.
(set-logic HORN)
(declare-fun fib (Int Int) Bool)
(assert (forall ((x Int)) (=> (< x 2) (fib x 1))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (>= x 2) (fib (- x 1) y) (fib (- x 2) z)) (fib x (+ y z)))))
(assert (forall ((a Int) (b Int) (c Int) (d Int)) (=> (and (fib a b) (fib c d) (< a c) (>= b d)) false)))
(check-sat)
