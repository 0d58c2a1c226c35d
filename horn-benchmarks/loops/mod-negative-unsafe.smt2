; The remainder mod of SMT-LIB is never negative: x = -5; while (nd()) x = x - 3; assert x mod 3 = 2
; Unsafe: -5 has remainder 1.
(set-logic HORN)

(declare-fun Inv (Int) Bool)

(assert (Inv (- 5)))
(assert (forall ((x Int))
  (=> (Inv x) (Inv (- x 3)))))
(assert (forall ((x Int))
  (=> (and (Inv x) (not (= (mod x 3) 2))) false)))

(check-sat)
