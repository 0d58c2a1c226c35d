; mult(x, y) = y = 0 ? 0 : x + mult(x, y-1). assert x >= 2 and y >= 1 => mult(x, y) >= y + 2
; Unsafe: mult(2, 1) = 2.
(set-logic HORN)

(declare-fun Mult (Int Int Int) Bool)

(assert (forall ((x Int) (y Int) (r Int))
  (=> (and (= y 0) (= r 0)) (Mult x y r))))
(assert (forall ((x Int) (y Int) (y1 Int) (r Int) (r1 Int))
  (=> (and (> y 0) (= y1 (- y 1)) (Mult x y1 r) (= r1 (+ x r))) (Mult x y r1))))
(assert (forall ((x Int) (y Int) (r Int))
  (=> (and (Mult x y r) (>= x 2) (>= y 1) (< r (+ y 2))) false)))

(check-sat)
