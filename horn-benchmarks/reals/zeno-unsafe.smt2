; x = 0; while (nd()) x = (x + 1) / 2; assert x != 31/32
; Unsafe: five steps.
(set-logic HORN)

(declare-fun Z (Real) Bool)

(assert (Z 0.0))
(assert (forall ((x Real))
  (=> (Z x) (Z (/ (+ x 1.0) 2.0)))))
(assert (forall ((x Real))
  (=> (and (Z x) (= x (/ 31.0 32.0))) false)))

(check-sat)
