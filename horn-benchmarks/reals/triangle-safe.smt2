; A point moves inside of the triangle x, y >= 0, x + y <= 1 by averaging with its corners; assert x + y <= 1
; Safe: the triangle is convex.
(set-logic HORN)

(declare-fun P (Real Real) Bool)

(assert (forall ((x Real) (y Real))
  (=> (and (= x 0.0) (= y 0.0)) (P x y))))
(assert (forall ((x Real) (y Real) (x1 Real) (y1 Real))
  (=> (and (P x y)
           (or (and (= x1 (/ x 2.0)) (= y1 (/ y 2.0)))
               (and (= x1 (/ (+ x 1.0) 2.0)) (= y1 (/ y 2.0)))
               (and (= x1 (/ x 2.0)) (= y1 (/ (+ y 1.0) 2.0)))))
      (P x1 y1))))
(assert (forall ((x Real) (y Real))
  (=> (and (P x y) (> (+ x y) 1.0)) false)))

(check-sat)
