; Signed 8-bit x starts at 0 and is incremented while x < 100; assert x >= 0.
; Safe: 0 <= x <= 100.
(set-logic HORN)

(declare-fun S ((_ BitVec 8)) Bool)

(assert (S #x00))
(assert (forall ((x (_ BitVec 8)))
  (=> (and (S x) (bvslt x #x64)) (S (bvadd x #x01)))))
(assert (forall ((x (_ BitVec 8)))
  (=> (and (S x) (bvslt x #x00)) false)))

(check-sat)
