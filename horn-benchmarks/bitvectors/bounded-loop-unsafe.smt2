; unsigned x = 0; while (x < 10) x++; assert x == 11 (32 bits)
; Unsafe: x = 10 at the exit.
(set-logic HORN)

(declare-fun L ((_ BitVec 32)) Bool)

(assert (forall ((x (_ BitVec 32)))
  (=> (= x #x00000000) (L x))))
(assert (forall ((x (_ BitVec 32)))
  (=> (and (L x) (bvult x #x0000000a)) (L (bvadd x #x00000001)))))
(assert (forall ((x (_ BitVec 32)))
  (=> (and (L x) (bvuge x #x0000000a) (not (= x #x0000000b))) false)))

(check-sat)
