; x = y = n; while (x > 0) { x--; y = y - 2; } assert y = x
; Unsafe: y runs ahead (n = 1).
(set-logic HORN)

(declare-fun Head (Int Int) Bool)
(declare-fun Exit (Int Int) Bool)

(assert (forall ((x Int) (y Int) (n Int))
  (=> (and (= x n) (= y n)) (Head x y))))
(assert (forall ((x Int) (y Int) (x1 Int) (y1 Int))
  (=> (and (Head x y) (> x 0) (= x1 (- x 1)) (= y1 (- y 2))) (Head x1 y1))))
(assert (forall ((x Int) (y Int))
  (=> (and (Head x y) (<= x 0)) (Exit x y))))
(assert (forall ((x Int) (y Int))
  (=> (and (Exit x y) (distinct x y)) false)))

(check-sat)
