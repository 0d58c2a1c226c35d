; expect: sat
; A case for a Boolean that is true and one where it is open overlap: as a formula, each of them excluded
; what the other has.
(set-logic HORN)
(declare-fun P0 (Int Bool Bool) Bool)
(declare-fun P1 (Bool Int Int) Bool)
(assert (forall ((P0_6 Int) (P0_7 Bool) (P0_8 Bool)) (=> (and P0_8 (not P0_7)) (P0 P0_6 P0_7 P0_8))))
(assert (forall ((P1_9 Bool) (P1_10 Int) (P1_11 Int)) (=> (= P1_11 (- 5)) (P1 P1_9 P1_10 P1_11))))
(assert (forall ((P0_12 Int) (P0_13 Bool) (P0_14 Bool) (P0_15 Int) (P0_16 Bool) (P0_17 Bool)) (=> (and (P0 P0_12 P0_13 P0_14) (and (not P0_16) (= P0_15 1) (= P0_13 P0_17))) (P0 P0_15 P0_16 P0_17))))
(assert (forall ((P1_18 Bool) (P1_19 Int) (P1_20 Int) (P0_21 Int) (P0_22 Bool) (P0_23 Bool)) (=> (and (P1 P1_18 P1_19 P1_20) (and (or P0_23 (>= P0_21 2) (not P0_22)) (= (+ P1_19 P1_20 (div P1_20 4)) P0_21) (not (= P1_18 P0_22)) (= P0_23 (>= P1_19 5)))) (P0 P0_21 P0_22 P0_23))))
(assert (forall ((P0_24 Int) (P0_25 Bool) (P0_26 Bool) (P1_27 Bool) (P1_28 Int) (P1_29 Int)) (=> (and (P0 P0_24 P0_25 P0_26) (and (or (>= P1_28 2) (<= P1_29 2)) (= P1_27 (and P0_25 (>= P0_24 6))) (= (+ P0_24 P1_28) 4) (= P0_24 P1_29))) (P1 P1_27 P1_28 P1_29))))
(assert (forall ((P0_30 Int) (P0_31 Bool) (P0_32 Bool)) (=> (and (P0 P0_30 P0_31 P0_32) (not (or P0_32 (>= P0_30 2) (not P0_31)))) false)))
(assert (forall ((P1_33 Bool) (P1_34 Int) (P1_35 Int)) (=> (and (P1 P1_33 P1_34 P1_35) (not (or (>= P1_34 2) (<= P1_35 2)))) false)))
(check-sat)
