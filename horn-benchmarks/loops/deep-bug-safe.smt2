; x = 0; while (nd()) x = x + 1; the error needs x = -1.
; Safe: x >= 0.
(set-logic HORN)

(declare-fun X (Int) Bool)

(assert (X 0))
(assert (forall ((x Int))
  (=> (X x) (X (+ x 1)))))
(assert (forall ((x Int))
  (=> (and (X x) (= x (- 1))) false)))

(check-sat)
