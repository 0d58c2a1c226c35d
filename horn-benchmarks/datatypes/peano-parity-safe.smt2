; Peano numbers: even and odd by recursion; assert no number is both.
; Safe: a regular invariant separates them, no first-order one without a recursive function does.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-fun Even (Nat) Bool)
(declare-fun Odd (Nat) Bool)

(assert (Even zero))
(assert (forall ((n Nat))
  (=> (Even n) (Odd (succ n)))))
(assert (forall ((n Nat))
  (=> (Odd n) (Even (succ n)))))
(assert (forall ((n Nat))
  (=> (and (Even n) (Odd n)) false)))

(check-sat)
