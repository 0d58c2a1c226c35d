; x = 0; while (x < 10) x++; assert x <= 10
; Safe: x <= 10.
(set-logic HORN)

(declare-fun Inv (Int) Bool)

(assert (forall ((x Int))
  (=> (= x 0) (Inv x))))
(assert (forall ((x Int) (x1 Int))
  (=> (and (Inv x) (< x 10) (= x1 (+ x 1))) (Inv x1))))
(assert (forall ((x Int))
  (=> (and (Inv x) (not (<= x 10))) false)))

(check-sat)
