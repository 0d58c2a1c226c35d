; Syntax: get-proof after check-sat, get-info.
; Unsafe: P 2.
(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (P 0))
(assert (forall ((x Int)) (=> (P x) (P (+ x 1)))))
(assert (forall ((x Int)) (=> (and (P x) (= x 2)) false)))
(check-sat)
(get-proof)
(get-info :reason-unknown)
