; Three flags set in order a, b, c: assert c => b and b => a.
; Safe: each flag is set after the one before.
(set-logic HORN)

(declare-fun O (Bool Bool Bool) Bool)

(assert (O false false false))
(assert (forall ((a Bool) (b Bool) (c Bool))
  (=> (O a b c) (O true b c))))
(assert (forall ((a Bool) (b Bool) (c Bool))
  (=> (and (O a b c) a) (O a true c))))
(assert (forall ((a Bool) (b Bool) (c Bool))
  (=> (and (O a b c) b) (O a b true))))
(assert (forall ((a Bool) (b Bool) (c Bool))
  (=> (and (O a b c) c) (O a b c))))
(assert (forall ((a Bool) (b Bool) (c Bool))
  (=> (and (O a b c) (not (and (=> c b) (=> b a)))) false)))

(check-sat)
