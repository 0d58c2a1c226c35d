; Family holes, N = 4, safe.
; N numbers in one loop, each with an upper bound and a hole below it, which it enters from above the bound
; only. Safe: none is ever in its hole, which takes both the bound and the hole to prove. Unsafe: the last one
; may go beyond its bound.
; Expected verdict: sat
(set-logic HORN)
(declare-fun Loop (Int Int Int Int) Bool)
(assert (Loop 0 0 0 0))
(assert (forall ((x0 Int) (x1 Int) (x2 Int) (x3 Int) (y0 Int) (y1 Int) (y2 Int) (y3 Int))
  (=> (and (Loop x0 x1 x2 x3) (or (and (<= x0 10) (<= y0 10) (not (= y0 9))) (and (> x0 10) (= y0 9))) (or (and (<= x1 13) (<= y1 13) (not (= y1 12))) (and (> x1 13) (= y1 12))) (or (and (<= x2 16) (<= y2 16) (not (= y2 15))) (and (> x2 16) (= y2 15))) (or (and (<= x3 19) (<= y3 19) (not (= y3 18))) (and (> x3 19) (= y3 18)))) (Loop y0 y1 y2 y3))))
(assert (forall ((x0 Int) (x1 Int) (x2 Int) (x3 Int))
  (=> (and (Loop x0 x1 x2 x3) (or (= x0 9) (= x1 12) (= x2 15) (= x3 18))) false)))
(check-sat)
