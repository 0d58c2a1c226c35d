; Signed division rounds to zero: for x in -7..7, x sdiv 2 is in -3..3.
; Safe: |x| / 2 <= 3.
(set-logic HORN)

(declare-fun X ((_ BitVec 4)) Bool)

(assert (X #b1001))
(assert (forall ((x (_ BitVec 4)))
  (=> (and (X x) (bvslt x #b0111)) (X (bvadd x #b0001)))))
(assert (forall ((x (_ BitVec 4)) (q (_ BitVec 4)))
  (=> (and (X x) (= q (bvsdiv x #b0010)) (or (bvslt q #b1101) (bvsgt q #b0011))) false)))

(check-sat)
