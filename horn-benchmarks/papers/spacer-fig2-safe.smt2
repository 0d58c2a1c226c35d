; SPACER (CAV 2013), Fig. 2(a), the running example:
;   0  x = y = z = w = 0
;   1  b = nd(); c = b
;   2  while (c > 0) {
;   3    if      (nd())                      { x = x+1; y = y+100; }
;   4    else if (nd() && x >= 4)            { x = x+1; y = y+1; }
;   5    else if (y > 10*w && z >= 100*x)    { y = -y; }
;        else assume(0)
;   6    z = z+1; w = w+10; c = c-1
;      }
;   8  if (x >= 4 && y <= 2) error
; One predicate for the loop head, as the transition system in Fig. 2(b).
; Safe: y <= 100x and w = 10z make line 5 impossible (y > 100z >= 10000x); then y >= 100 whenever x >= 1.
(set-logic HORN)

(declare-fun Lp (Int Int Int Int Int Int) Bool)

(assert (forall ((b Int))
  (Lp 0 0 0 0 b b)))

(assert (forall ((x Int) (y Int) (z Int) (w Int) (c Int) (b Int) (x1 Int) (y1 Int))
  (=> (and (Lp x y z w c b)
           (> c 0)
           (or (and (= x1 (+ x 1)) (= y1 (+ y 100)))
               (and (>= x 4) (= x1 (+ x 1)) (= y1 (+ y 1)))
               (and (> y (* 10 w)) (>= z (* 100 x)) (= x1 x) (= y1 (- y)))))
      (Lp x1 y1 (+ z 1) (+ w 10) (- c 1) b))))

(assert (forall ((x Int) (y Int) (z Int) (w Int) (c Int) (b Int))
  (=> (and (Lp x y z w c b) (<= c 0) (>= x 4) (<= y 2)) false)))

(check-sat)
