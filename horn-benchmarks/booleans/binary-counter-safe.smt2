; A 4-bit binary counter made of Booleans that skips from 12 to 0; assert it is never 13.
; Safe: 13, 14, 15 are not reached.
(set-logic HORN)

(declare-fun B (Bool Bool Bool Bool) Bool)

(assert (B false false false false))
(assert (forall ((d Bool) (c Bool) (b Bool) (a Bool))
  (=> (and (B d c b a) (not (and d c (not b) (not a))))
      (B (xor d (and c b a)) (xor c (and b a)) (xor b a) (not a)))))
(assert (forall ((d Bool) (c Bool) (b Bool) (a Bool))
  (=> (and (B d c b a) d c (not b) (not a)) (B false false false false))))
(assert (forall ((d Bool) (c Bool) (b Bool) (a Bool))
  (=> (and (B d c b a) d c (not b) a) false)))

(check-sat)
