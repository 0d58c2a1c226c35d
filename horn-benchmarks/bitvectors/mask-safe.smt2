; x = (x + 5) & 0x0f; assert x <= 15 (8 bits)
; Safe: the mask keeps the low four bits.
(set-logic HORN)

(declare-fun M ((_ BitVec 8)) Bool)

(assert (forall ((x (_ BitVec 8)))
  (=> (= x #x00) (M x))))
(assert (forall ((x (_ BitVec 8)))
  (=> (M x) (M (bvand (bvadd x #x05) #x0f)))))
(assert (forall ((x (_ BitVec 8)))
  (=> (and (M x) (bvugt x #x0f)) false)))

(check-sat)
