; x = 0; y = 10; while (x < 20) { if (x >= 10) y++; x++; } assert y = 20
; Safe: y = max(x, 10).
(set-logic HORN)

(declare-fun Inv (Int Int) Bool)

(assert (Inv 0 10))
(assert (forall ((x Int) (y Int) (y1 Int))
  (=> (and (Inv x y) (< x 20) (= y1 (ite (>= x 10) (+ y 1) y))) (Inv (+ x 1) y1))))
(assert (forall ((x Int) (y Int))
  (=> (and (Inv x y) (>= x 20) (not (= y 20))) false)))

(check-sat)
