; x walks by +1 or -1 from 0, y = |x| is tracked separately; assert y = |x|
; Safe: y is updated by the side x is on.
(set-logic HORN)

(declare-fun W (Int Int) Bool)

(assert (W 0 0))
(assert (forall ((x Int) (y Int))
  (=> (W x y) (W (+ x 1) (ite (>= x 0) (+ y 1) (- y 1))))))
(assert (forall ((x Int) (y Int))
  (=> (W x y) (W (- x 1) (ite ( > x 0) (- y 1) (+ y 1))))))
(assert (forall ((x Int) (y Int))
  (=> (and (W x y) (not (= y (ite (>= x 0) x (- x))))) false)))

(check-sat)
