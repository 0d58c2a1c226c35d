; Two processes share one lock bit; a, b say who is inside. assert not (a and b)
; Unsafe: process B does not test the lock.
(set-logic HORN)

(declare-fun S (Bool Bool Bool) Bool)

(assert (S false false false))
(assert (forall ((l Bool) (a Bool) (b Bool))
  (=> (and (S l a b) (not l) (not a)) (S true true b))))
(assert (forall ((l Bool) (a Bool) (b Bool))
  (=> (and (S l a b) (not b)) (S true a true))))
(assert (forall ((l Bool) (a Bool) (b Bool))
  (=> (and (S l a b) a) (S false false b))))
(assert (forall ((l Bool) (a Bool) (b Bool))
  (=> (and (S l a b) b) (S false a false))))
(assert (forall ((l Bool) (a Bool) (b Bool))
  (=> (and (S l a b) a b) false)))

(check-sat)
