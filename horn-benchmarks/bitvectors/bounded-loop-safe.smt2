; unsigned x = 0; while (x < 10) x++; assert x == 10 (32 bits)
; Safe: x <= 10 unsigned.
(set-logic HORN)

(declare-fun L ((_ BitVec 32)) Bool)

(assert (forall ((x (_ BitVec 32)))
  (=> (= x #x00000000) (L x))))
(assert (forall ((x (_ BitVec 32)))
  (=> (and (L x) (bvult x #x0000000a)) (L (bvadd x #x00000001)))))
(assert (forall ((x (_ BitVec 32)))
  (=> (and (L x) (bvuge x #x0000000a) (not (= x #x0000000a))) false)))

(check-sat)
