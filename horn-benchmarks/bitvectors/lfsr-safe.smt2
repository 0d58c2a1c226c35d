; A 4-bit linear feedback shift register (taps 4 and 3) never becomes 0.
; Safe: the update is a bijection that maps 0 to 0.
(set-logic HORN)

(declare-fun R ((_ BitVec 4)) Bool)

(assert (R #b0001))
(assert (forall ((x (_ BitVec 4)))
  (=> (R x) (R (concat ((_ extract 2 0) x) (bvxor ((_ extract 3 3) x) ((_ extract 2 2) x)))))))
(assert (forall ((x (_ BitVec 4)))
  (=> (and (R x) (= x #b0000)) false)))

(check-sat)
