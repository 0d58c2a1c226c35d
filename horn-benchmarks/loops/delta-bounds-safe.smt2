; x = y = 0; while (nd()) { d = nd in 1..3; x = x + d; y = y + 2*d; } assert y = 2*x
; Safe: y = 2x.
(set-logic HORN)

(declare-fun Inv (Int Int) Bool)

(assert (Inv 0 0))
(assert (forall ((x Int) (y Int) (d Int))
  (=> (and (Inv x y) (<= 1 d 3)) (Inv (+ x d) (+ y (* 2 d) 0)))))
(assert (forall ((x Int) (y Int))
  (=> (and (Inv x y) (not (= y (* 2 x)))) false)))

(check-sat)
