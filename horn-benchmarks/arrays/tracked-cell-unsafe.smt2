; a[p] = 0 for an unknown p; all writes go to indices of at least p; assert a[p] = 0
; Unsafe: p itself may be written.
(set-logic HORN)

(declare-fun M ((Array Int Int) Int) Bool)

(assert (forall ((a (Array Int Int)) (p Int))
  (M (store a p 0) p)))
(assert (forall ((a (Array Int Int)) (p Int) (i Int) (v Int))
  (=> (and (M a p) (>= i p)) (M (store a i v) p))))
(assert (forall ((a (Array Int Int)) (p Int))
  (=> (and (M a p) (not (= (select a p) 0))) false)))

(check-sat)
