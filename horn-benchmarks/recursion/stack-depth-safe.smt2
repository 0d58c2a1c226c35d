; A recursive-descent reader of nested brackets: depth d, result r the deepest level; assert r >= d
; Safe: the result is at least the depth at the call.
(set-logic HORN)

(declare-fun R (Int Int) Bool)

(assert (forall ((d Int))
  (=> (>= d 0) (R d d))))
(assert (forall ((d Int) (r Int))
  (=> (and (>= d 0) (R (+ d 1) r)) (R d r))))
(assert (forall ((d Int) (r Int) (s Int) (m Int))
  (=> (and (R d r) (R d s) (= m (ite (> r s) r s))) (R d m))))
(assert (forall ((d Int) (r Int))
  (=> (and (R d r) (< r d)) false)))

(check-sat)
