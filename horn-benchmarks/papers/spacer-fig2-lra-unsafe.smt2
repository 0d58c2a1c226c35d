; SPACER (CAV 2013), Fig. 2(a), over the reals: as spacer-fig2, every variable a Real.
; Unsafe: line 5 was weakened to y > w && z >= x; five rounds reach the error.
(set-logic HORN)

(declare-fun Lp (Real Real Real Real Real Real) Bool)

(assert (forall ((x Real) (y Real) (z Real) (w Real) (c Real) (b Real))
  (=> (and (= x 0.0) (= y 0.0) (= z 0.0) (= w 0.0) (= c b)) (Lp x y z w c b))))

(assert (forall ((x Real) (y Real) (z Real) (w Real) (c Real) (b Real) (x1 Real) (y1 Real)
                 (z1 Real) (w1 Real) (c1 Real))
  (=> (and (Lp x y z w c b)
           (> c 0.0)
           (or (and (= x1 (+ x 1.0)) (= y1 (+ y 100.0)))
               (and (>= x 4.0) (= x1 (+ x 1.0)) (= y1 (+ y 1.0)))
               (and (> y w) (>= z x) (= x1 x) (= y1 (- y))))
           (= z1 (+ z 1.0))
           (= w1 (+ w 10.0))
           (= c1 (- c 1.0)))
      (Lp x1 y1 z1 w1 c1 b))))

(assert (forall ((x Real) (y Real) (z Real) (w Real) (c Real) (b Real))
  (=> (and (Lp x y z w c b) (<= c 0.0) (>= x 4.0) (<= y 2.0)) false)))

(check-sat)
