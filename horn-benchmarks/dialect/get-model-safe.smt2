; Syntax: get-model after check-sat, an unused predicate must be in the model too.
; Safe: 0 <= x <= 5.
(set-logic HORN)
(set-option :produce-models true)
(declare-fun P (Int) Bool)
(declare-fun Unused (Int Bool) Bool)
(assert (P 0))
(assert (forall ((x Int)) (=> (and (P x) (< x 5)) (P (+ x 1)))))
(assert (forall ((x Int)) (=> (and (P x) (> x 5)) false)))
(check-sat)
(get-model)
