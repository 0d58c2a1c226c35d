; Signed 8-bit x starts at 120 and is incremented; assert x >= 0.
; Unsafe: starting from 120, eight steps overflow to -128.
(set-logic HORN)

(declare-fun S ((_ BitVec 8)) Bool)

(assert (S #x78))
(assert (forall ((x (_ BitVec 8)))
  (=> (S x) (S (bvadd x #x01)))))
(assert (forall ((x (_ BitVec 8)))
  (=> (and (S x) (bvslt x #x00)) false)))

(check-sat)
