; x = 1; while (nd()) x = 2 * x by a shift; (8 bits) assert x & (x - 1) = 0
; Safe: x is a power of two or 0.
(set-logic HORN)

(declare-fun Z ((_ BitVec 8)) Bool)

(assert (Z #x01))
(assert (forall ((x (_ BitVec 8)))
  (=> (Z x) (Z (bvshl x #x01)))))
(assert (forall ((x (_ BitVec 8)))
  (=> (and (Z x) (not (= (bvand x (bvsub x #x01)) #x00))) false)))

(check-sat)
