; Syntax: both forms of testers, (_ is C) and is-C.
; Safe: stop is the last shape.
(set-logic HORN)
(declare-datatypes ((Act 0)) (((walk (speed Int)) (wait) (stop))))
(declare-fun P (Act Bool) Bool)
(assert (P (walk 3) false))
(assert (forall ((a Act) (d Bool)) (=> (and (P a d) (is-walk a)) (P wait d))))
(assert (forall ((a Act) (d Bool) (n Int)) (=> (and (P a d) ((_ is wait) a)) (P (walk n) d))))
(assert (forall ((a Act) (d Bool)) (=> (and (P a d) (or (is-wait a) ((_ is walk) a))) (P stop true))))
; stop is final
(assert (forall ((a Act)) (=> (and (P a true) (not (is-stop a))) false)))
(check-sat)
