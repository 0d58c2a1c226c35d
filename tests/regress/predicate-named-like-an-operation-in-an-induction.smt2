; expect: sat
; with: engine=relate
; Questions of a proof by induction had the predicate `mod` as the operation of that name.
(set-logic HORN)
(declare-fun mod (Int Int Int) Bool)
(assert (forall ((x Int) (y Int)) (=> (and (>= x 0) (< x y)) (mod x y x))))
(assert (forall ((x Int) (y Int) (r Int)) (=> (and (>= x y) (> y 0) (mod (- x y) y r)) (mod x y r))))
(assert (forall ((x Int) (y Int) (r Int) (s Int))
  (=> (and (mod x y r) (mod (+ x y) y s) (distinct r s) (> y 0) (>= x 0)) false)))
(check-sat)
