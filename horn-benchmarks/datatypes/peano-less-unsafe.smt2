; Peano numbers: n < succ(n) as a relation Lt; assert not Lt(n, zero).
; Unsafe: the fact Lt(succ zero, zero) was added.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-fun Lt (Nat Nat) Bool)

(assert (forall ((n Nat))
  (Lt n (succ n))))
(assert (forall ((m Nat) (n Nat))
  (=> (Lt m n) (Lt m (succ n)))))
(assert (Lt (succ zero) zero))

(assert (forall ((n Nat))
  (=> (Lt n zero) false)))

(check-sat)
