; x = 1; while (nd()) x = 2 * x by a shift; (8 bits) assert x != 0
; Unsafe: the eighth shift drops the only bit.
(set-logic HORN)

(declare-fun Z ((_ BitVec 8)) Bool)

(assert (Z #x01))
(assert (forall ((x (_ BitVec 8)))
  (=> (Z x) (Z (bvshl x #x01)))))
(assert (forall ((x (_ BitVec 8)))
  (=> (and (Z x) (= x #x00)) false)))

(check-sat)
