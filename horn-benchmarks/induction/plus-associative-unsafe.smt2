; Functions as relations, results first: (x + y) + z = x + (y + z).
; Unsafe: the twin leaves z out, which fails for small values.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-fun plus (Nat Nat Nat) Bool)

(assert (forall ((y Nat)) (plus y zero y)))
(assert (forall ((o Nat) (x Nat) (y Nat)) (=> (plus o x y) (plus (succ o) (succ x) y))))

(assert (forall ((x Nat) (y Nat) (z Nat) (a Nat) (c Nat) (d Nat)) (=> (and (plus a x y) (plus c y z) (plus d x c) (not (= a d))) false)))

(check-sat)
