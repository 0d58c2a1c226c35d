; Syntax: constants in heads and in bodies.
; Safe: location 2 is entered with x >= 0.
(set-logic HORN)
(declare-fun At (Int Int Bool) Bool)
(assert (At 0 0 true))
(assert (forall ((x Int)) (=> (At 0 x true) (At 1 x false))))
(assert (forall ((x Int)) (=> (At 1 x false) (At 2 x true))))
(assert (forall ((x Int)) (=> (and (At 2 x true) (< x 0)) false)))
(check-sat)
