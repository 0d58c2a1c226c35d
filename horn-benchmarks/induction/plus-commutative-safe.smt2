; Functions as relations, results first: x + y = y + x in Peano numbers.
; Safe: by x + 0 = x and x + (y + 1) = (x + y) + 1.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-fun plus (Nat Nat Nat) Bool)

(assert (forall ((y Nat)) (plus y zero y)))
(assert (forall ((o Nat) (x Nat) (y Nat)) (=> (plus o x y) (plus (succ o) (succ x) y))))

(assert (forall ((x Nat) (y Nat) (a Nat) (b Nat)) (=> (and (plus a x y) (plus b y x) (not (= a b))) false)))

(check-sat)
