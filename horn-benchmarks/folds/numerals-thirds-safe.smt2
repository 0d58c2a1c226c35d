; Peano numbers that are three apart, from zero; assert that two more is none of them.
; Safe: by the remainder of three, a state of a finite automaton.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-fun third (Nat) Bool)

(assert (third zero))
(assert (forall ((n Nat))
  (=> (third n) (third (succ (succ (succ n)))))))
(assert (forall ((n Nat))
  (=> (and (third n) (third (succ (succ n)))) false)))

(check-sat)
