; A 4-bit binary counter made of Booleans that skips from 13 to 0; assert it is never 13.
; Unsafe: 13 steps.
(set-logic HORN)

(declare-fun B (Bool Bool Bool Bool) Bool)

(assert (B false false false false))
(assert (forall ((d Bool) (c Bool) (b Bool) (a Bool))
  (=> (and (B d c b a) (not (and d c (not b) a)))
      (B (xor d (and c b a)) (xor c (and b a)) (xor b a) (not a)))))
(assert (forall ((d Bool) (c Bool) (b Bool) (a Bool))
  (=> (and (B d c b a) d c (not b) a) (B false false false false))))
(assert (forall ((d Bool) (c Bool) (b Bool) (a Bool))
  (=> (and (B d c b a) d c (not b) a) false)))

(check-sat)
