; p is the xor of three inputs kept up to date as they change; assert p = a xor b xor c.
; Safe: each change flips p.
(set-logic HORN)

(declare-fun X (Bool Bool Bool Bool) Bool)

(assert (X false false false false))
(assert (forall ((a Bool) (b Bool) (c Bool) (p Bool))
  (=> (X a b c p) (X (not a) b c (not p)))))
(assert (forall ((a Bool) (b Bool) (c Bool) (p Bool))
  (=> (X a b c p) (X a (not b) c (not p)))))
(assert (forall ((a Bool) (b Bool) (c Bool) (p Bool))
  (=> (X a b c p) (X a b (not c) (not p)))))
(assert (forall ((a Bool) (b Bool) (c Bool) (p Bool))
  (=> (X a b c p) (X (not a) (not b) c p))))
(assert (forall ((a Bool) (b Bool) (c Bool) (p Bool))
  (=> (and (X a b c p) (not (= p (xor a b c)))) false)))

(check-sat)
