; The remainder mod of SMT-LIB is never negative: x = 5; while (nd()) x = x - 3; assert x mod 3 = 2
; Safe: 5, 2, -1, -4 ... all have remainder 2.
(set-logic HORN)

(declare-fun Inv (Int) Bool)

(assert (Inv 5))
(assert (forall ((x Int))
  (=> (Inv x) (Inv (- x 3)))))
(assert (forall ((x Int))
  (=> (and (Inv x) (not (= (mod x 3) 2))) false)))

(check-sat)
