; Program P_g of SPACER (Komuravelli et al., CAV 2013), Fig. 1(a), due to Gulavani et al. (TACAS 2008):
;   x = y = z = w = 0;
;   while (nd()) {
;     if      (nd())                            { x = x+1; y = y+100; }
;     else if (nd())                            { if (x >= 4) { x = x+1; y = y+1; } }
;     else if (y > 10*w && z >= 10*x)    { y = -y; }
;     t = 1; w = w+t; z = z+10*t;
;   }
;   if (x >= 4 && y <= 2) error;
; One predicate for the loop head.
; Unsafe: the third branch asks for z >= 10x only. After four rounds of the first branch
; x = 4, y = 400, z = 40, w = 4, so the fifth round may negate y.
(set-logic HORN)

(declare-fun Loop (Int Int Int Int) Bool)

(assert (Loop 0 0 0 0))

(assert (forall ((x Int) (y Int) (z Int) (w Int) (x1 Int) (y1 Int) (t Int))
  (=> (and (Loop x y z w)
           (or (and (= x1 (+ x 1)) (= y1 (+ y 100)))
               (and (>= x 4) (= x1 (+ x 1)) (= y1 (+ y 1)))
               (and (< x 4) (= x1 x) (= y1 y))
               (and (> y (* 10 w)) (>= z (* 10 x)) (= x1 x) (= y1 (- y)))
               (and (or (<= y (* 10 w)) (< z (* 10 x))) (= x1 x) (= y1 y)))
           (= t 1))
      (Loop x1 y1 (+ z (* 10 t)) (+ w t)))))

(assert (forall ((x Int) (y Int) (z Int) (w Int))
  (=> (and (Loop x y z w) (>= x 4) (<= y 2)) false)))

(check-sat)
