; An 8-bit counter goes up in steps of 2 and wraps around; assert it is never 7.
; Safe: its lowest bit stays 0.
(set-logic HORN)

(declare-fun C ((_ BitVec 8)) Bool)

(assert (C #x00))
(assert (forall ((x (_ BitVec 8)))
  (=> (C x) (C (bvadd x #x02)))))
(assert (forall ((x (_ BitVec 8)))
  (=> (and (C x) (= x #x07)) false)))

(check-sat)
