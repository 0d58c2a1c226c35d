; x = 0; while (nd()) x = x + 2; assert x != 8
; Unsafe: four steps reach 8.
(set-logic HORN)

(declare-fun Inv (Int) Bool)

(assert (Inv 0))
(assert (forall ((x Int))
  (=> (Inv x) (Inv (+ x 2)))))
(assert (forall ((x Int))
  (=> (and (Inv x) (= x 8)) false)))

(check-sat)
