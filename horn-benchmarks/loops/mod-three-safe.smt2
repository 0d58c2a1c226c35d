; x = 0; while (nd()) x = nd() ? x + 3 : x - 6; assert x mod 3 = 0
; Safe: x is divisible by 3.
(set-logic HORN)

(declare-fun Inv (Int) Bool)

(assert (forall ((x Int))
  (=> (= x 0) (Inv x))))
(assert (forall ((x Int) (x1 Int))
  (=> (and (Inv x) (or (= x1 (+ x 3)) (= x1 (- x 6)))) (Inv x1))))
(assert (forall ((x Int))
  (=> (and (Inv x) (not (= (mod x 3) 0))) false)))

(check-sat)
