; InterpChecker (ASE 2017): the update and use rules need a guard here. Blockers of one transition are alternatives.
; Each entry has a blocker at B of its own (x <= 0, z <= 0); their conjunction holds of neither. Breadth first, what
; comes through C is at A when both are known.
; Safe: x > 0 and z = 1 are never met together.
(set-logic HORN)

(declare-fun A (Int Int) Bool)
(declare-fun B (Int Int) Bool)
(declare-fun C1 (Int Int) Bool)
(declare-fun C2 (Int Int) Bool)
(declare-fun C3 (Int Int) Bool)
(declare-fun C4 (Int Int) Bool)
(declare-fun C5 (Int Int) Bool)
(declare-fun D (Int Int) Bool)

(assert (forall ((x Int) (z Int)) (=> (and (= x 0) (= z 1)) (A x z))))
(assert (forall ((x Int) (z Int)) (=> (and (= x 7) (= z 0)) (A x z))))
(assert (forall ((x Int) (z Int)) (=> (and (= x 0) (= z 1)) (C1 x z))))
(assert (forall ((x Int) (z Int)) (=> (and (= x 7) (= z 0)) (C1 x z))))
(assert (forall ((x Int) (z Int)) (=> (C1 x z) (C2 x z))))
(assert (forall ((x Int) (z Int)) (=> (C2 x z) (C3 x z))))
(assert (forall ((x Int) (z Int)) (=> (C3 x z) (C4 x z))))
(assert (forall ((x Int) (z Int)) (=> (C4 x z) (C5 x z))))
(assert (forall ((x Int) (z Int)) (=> (C5 x z) (A x z))))
(assert (forall ((x Int) (z Int)) (=> (A x z) (B x z))))
(assert (forall ((x Int) (z Int)) (=> (B x z) (D x z))))
(assert (forall ((x Int) (z Int)) (=> (and (D x z) (> x 0) (= z 1)) false)))

(check-sat)
