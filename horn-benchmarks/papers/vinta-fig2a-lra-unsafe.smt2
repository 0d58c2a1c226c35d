; VINTA (SAS 2012), Fig. 2(a), over the reals.
; Unsafe: the error asks for y <= 400 instead of y <= 2; x = 4, y = 400 after four rounds.
(set-logic HORN)

(declare-fun Head (Real Real) Bool)

(assert (forall ((x Real) (y Real))
  (=> (and (= x 0.0) (= y 0.0)) (Head x y))))
(assert (forall ((x Real) (y Real) (x1 Real) (y1 Real))
  (=> (and (Head x y)
           (or (and (= x1 (+ x 1.0)) (= y1 (+ y 100.0)))
               (and (>= x 4.0) (= x1 (+ x 1.0)) (= y1 (+ y 1.0)))
               (and (= x1 x) (= y1 y))))
      (Head x1 y1))))
(assert (forall ((x Real) (y Real))
  (=> (and (Head x y) (>= x 4.0) (<= y 400.0)) false)))

(check-sat)
