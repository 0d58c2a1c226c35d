; Syntax: constants in heads and in bodies.
; Unsafe: with x = -1.

(set-logic HORN)
(declare-fun At (Int Int Bool) Bool)
(assert (At 0 (- 1) true))
(assert (forall ((x Int)) (=> (At 0 x true) (At 1 x false))))
(assert (forall ((x Int)) (=> (At 1 x false) (At 2 x true))))
(assert (forall ((x Int)) (=> (and (At 2 x true) (< x 0)) false)))
(check-sat)
