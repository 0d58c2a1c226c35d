; x = 0; while (nd()) x = x + 1; the error needs x = 60.
; Unsafe, 60 steps deep.
(set-logic HORN)

(declare-fun X (Int) Bool)

(assert (X 0))
(assert (forall ((x Int))
  (=> (X x) (X (+ x 1)))))
(assert (forall ((x Int))
  (=> (and (X x) (= x 60)) false)))

(check-sat)
