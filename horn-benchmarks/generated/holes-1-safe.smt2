; Family holes, N = 1, safe.
; N numbers in one loop, each with an upper bound and a hole below it, which it enters from above the bound
; only. Safe: none is ever in its hole, which takes both the bound and the hole to prove. Unsafe: the last one
; may go beyond its bound.
; Expected verdict: sat
(set-logic HORN)
(declare-fun Loop (Int) Bool)
(assert (Loop 0))
(assert (forall ((x0 Int) (y0 Int))
  (=> (and (Loop x0) (or (and (<= x0 10) (<= y0 10) (not (= y0 9))) (and (> x0 10) (= y0 9)))) (Loop y0))))
(assert (forall ((x0 Int))
  (=> (and (Loop x0) (or (= x0 9))) false)))
(check-sat)
