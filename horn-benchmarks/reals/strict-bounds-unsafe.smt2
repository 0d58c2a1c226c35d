; Strict and non-strict bounds: x in (0, 1) stays there under x := (x + y) / 2 for any y in [0, 1].
; assert 0 < x < 1, and x < 1/2 after y = 1
; Unsafe: the last y is kept; with y = 1, x >= 1/2.
(set-logic HORN)

(declare-fun S (Real Real) Bool)

(assert (forall ((x Real))
  (=> (and (> x 0.0) (< x 1.0)) (S x x))))
(assert (forall ((x Real) (y Real) (y1 Real))
  (=> (and (S x y) (>= y1 0.0) (<= y1 1.0)) (S (/ (+ x y1) 2.0) y1))))
(assert (forall ((x Real) (y Real))
  (=> (and (S x y) (or (<= x 0.0) (>= x 1.0) (and (= y 1.0) (>= x 0.5)))) false)))

(check-sat)
