; mult(x, y) by recursion over y; assert mult(x, y) = mult(y, x) + 1 for x, y >= 0.
; Unsafe: mult(0, 0) = 0.
(set-logic HORN)

(declare-fun Mult (Int Int Int) Bool)

(assert (forall ((x Int))
  (Mult x 0 0)))
(assert (forall ((x Int) (y Int) (r Int))
  (=> (and (> y 0) (Mult x (- y 1) r)) (Mult x y (+ x r)))))
(assert (forall ((x Int) (y Int) (r Int) (s Int))
  (=> (and (Mult x y r) (Mult y x s) (not (= r (+ s 1)))) false)))

(check-sat)
