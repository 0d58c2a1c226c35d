; The remainder of a sum is that of the sum of the remainders. Not so: for x = z = 1 and y = 2.
(set-logic HORN)
(declare-fun residue (Int Int Int) Bool)
(assert (forall ((x Int) (y Int)) (=> (< x y) (residue x y x))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (>= x y) (residue (- x y) y z)) (residue x y z))))
(assert (forall ((a Int) (b Int) (e Int) (x Int) (y Int) (z Int)) (=> (and (residue x y a) (residue z y b) (residue (+ x z) y e) (> y 0) (>= x 0) (>= z 0) (distinct e (+ a b))) false)))
(check-sat)
