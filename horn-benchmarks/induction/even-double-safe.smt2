; Functions as relations, results first: even (dbl n), even and odd defined by each other.
; Safe: by induction on n.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-fun dbl (Nat Nat) Bool)
(declare-fun even (Bool Nat) Bool)
(declare-fun odd (Bool Nat) Bool)

(assert (dbl zero zero))
(assert (forall ((o Nat) (n Nat)) (=> (dbl o n) (dbl (succ (succ o)) (succ n)))))
(assert (even true zero))
(assert (forall ((b Bool) (n Nat)) (=> (odd b n) (even b (succ n)))))
(assert (odd false zero))
(assert (forall ((b Bool) (n Nat)) (=> (even b n) (odd b (succ n)))))

(assert (forall ((n Nat) (d Nat) (b Bool)) (=> (and (dbl d n) (even b d) (not b)) false)))

(check-sat)
