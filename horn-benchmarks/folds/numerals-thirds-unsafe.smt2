; As numerals-thirds-safe, but asserts that three more is none of them.
; Unsafe: zero and three.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-fun third (Nat) Bool)

(assert (third zero))
(assert (forall ((n Nat))
  (=> (third n) (third (succ (succ (succ n)))))))
(assert (forall ((n Nat))
  (=> (and (third n) (third (succ (succ (succ n))))) false)))

(check-sat)
