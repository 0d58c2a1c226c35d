; x = -128; while (nd()) x = x / 2 by an arithmetic shift; (8 bits) assert x <= -2
; Unsafe: seven shifts yield -1.
(set-logic HORN)

(declare-fun Z ((_ BitVec 8)) Bool)

(assert (Z #x80))
(assert (forall ((x (_ BitVec 8)))
  (=> (Z x) (Z (bvashr x #x01)))))
(assert (forall ((x (_ BitVec 8)))
  (=> (and (Z x) (bvsgt x #xfe)) false)))

(check-sat)
