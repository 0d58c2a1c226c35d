; The abstraction of P_g (SPACER, CAV 2013, Fig. 1(a)) in which the assignment t = 1 became t = nd().
; Safe: z = 10w still holds, so the third branch stays impossible.
(set-logic HORN)

(declare-fun Loop (Int Int Int Int) Bool)

(assert (Loop 0 0 0 0))

(assert (forall ((x Int) (y Int) (z Int) (w Int) (x1 Int) (y1 Int) (t Int) (u Int))
  (=> (and (Loop x y z w)
           (or (and (= x1 (+ x 1)) (= y1 (+ y 100)))
               (and (>= x 4) (= x1 (+ x 1)) (= y1 (+ y 1)))
               (and (< x 4) (= x1 x) (= y1 y))
               (and (> y (* 10 w)) (>= z (* 100 x)) (= x1 x) (= y1 (- y)))
               (and (or (<= y (* 10 w)) (< z (* 100 x))) (= x1 x) (= y1 y)))
           (= u t))
      (Loop x1 y1 (+ z (* 10 u)) (+ w t)))))

(assert (forall ((x Int) (y Int) (z Int) (w Int))
  (=> (and (Loop x y z w) (>= x 4) (<= y 2)) false)))

(check-sat)
