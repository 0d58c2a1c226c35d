; A 4-bit counter is widened to 8 bits: with zeros it is at most 15, with the sign it is not.
; Unsafe: sign_extend of 8 is 0xf8.
(set-logic HORN)

(declare-fun N ((_ BitVec 4)) Bool)
(declare-fun W ((_ BitVec 8)) Bool)

(assert (N #b0000))
(assert (forall ((x (_ BitVec 4)))
  (=> (N x) (N (bvadd x #b0001)))))
(assert (forall ((x (_ BitVec 4)))
  (=> (N x) (W ((_ sign_extend 4) x)))))
(assert (forall ((x (_ BitVec 8)))
  (=> (and (W x) (bvugt x #x0f)) false)))

(check-sat)
