; Program P_g of SPACER (CAV 2013), Fig. 1(a), over the reals: as spacer-fig1-pg, every variable a Real.
; Unsafe: the third branch asks for z >= 10x only, so that y = 400 can be negated when x = 4.
(set-logic HORN)

(declare-fun Loop (Real Real Real Real) Bool)

(assert (forall ((x Real) (y Real) (z Real) (w Real))
  (=> (and (= x 0.0) (= y 0.0) (= z 0.0) (= w 0.0)) (Loop x y z w))))

(assert (forall ((x Real) (y Real) (z Real) (w Real) (x1 Real) (y1 Real) (z1 Real) (w1 Real)
                 (t Real))
  (=> (and (Loop x y z w)
           (or (and (= x1 (+ x 1.0)) (= y1 (+ y 100.0)))
               (and (>= x 4.0) (= x1 (+ x 1.0)) (= y1 (+ y 1.0)))
               (and (< x 4.0) (= x1 x) (= y1 y))
               (and (> y (* 10.0 w)) (>= z (* 10.0 x)) (= x1 x) (= y1 (- y)))
               (and (or (<= y (* 10.0 w)) (< z (* 10.0 x))) (= x1 x) (= y1 y)))
           (= t 1.0)
           (= w1 (+ w t))
           (= z1 (+ z (* 10.0 t))))
      (Loop x1 y1 z1 w1))))

(assert (forall ((x Real) (y Real) (z Real) (w Real))
  (=> (and (Loop x y z w) (>= x 4.0) (<= y 2.0)) false)))

(check-sat)
