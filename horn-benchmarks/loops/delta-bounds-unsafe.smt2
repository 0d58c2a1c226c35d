; x = y = 0; while (nd()) { d = nd in 1..3; x = x + d; y = y + 2*d + (d == 3 ? 1 : 0); } assert y = 2*x
; Unsafe: d = 3 adds one too many.
(set-logic HORN)

(declare-fun Inv (Int Int) Bool)

(assert (Inv 0 0))
(assert (forall ((x Int) (y Int) (d Int))
  (=> (and (Inv x y) (<= 1 d 3)) (Inv (+ x d) (+ y (* 2 d) (ite (= d 3) 1 0))))))
(assert (forall ((x Int) (y Int))
  (=> (and (Inv x y) (not (= y (* 2 x)))) false)))

(check-sat)
