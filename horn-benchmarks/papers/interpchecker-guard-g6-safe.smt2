; InterpChecker (ASE 2017): the update and use rules need a guard here. Blockers of one transition are alternatives.
; Each entry has a blocker at B of its own (x <= 0, z <= 0); their conjunction holds of neither.
; Safe: x > 0 and z = 1 are never met together.
(set-logic HORN)

(declare-fun A (Int Int) Bool)
(declare-fun B (Int Int) Bool)
(declare-fun D (Int Int) Bool)

(assert (forall ((x Int) (z Int)) (=> (and (= x 0) (= z 1)) (A x z))))
(assert (forall ((x Int) (z Int)) (=> (and (= x 7) (= z 0)) (A x z))))
(assert (forall ((x Int) (z Int)) (=> (A x z) (B x z))))
(assert (forall ((x Int) (z Int)) (=> (B x z) (D x z))))
(assert (forall ((x Int) (z Int)) (=> (and (D x z) (> x 0) (= z 1)) false)))

(check-sat)
