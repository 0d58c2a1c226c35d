; a[p] = 0 for an unknown p; all writes go to indices other than p; assert a[p] = 0
; Safe: writes miss p.
(set-logic HORN)

(declare-fun M ((Array Int Int) Int) Bool)

(assert (forall ((a (Array Int Int)) (p Int))
  (M (store a p 0) p)))
(assert (forall ((a (Array Int Int)) (p Int) (i Int) (v Int))
  (=> (and (M a p) (distinct i p)) (M (store a i v) p))))
(assert (forall ((a (Array Int Int)) (p Int))
  (=> (and (M a p) (not (= (select a p) 0))) false)))

(check-sat)
