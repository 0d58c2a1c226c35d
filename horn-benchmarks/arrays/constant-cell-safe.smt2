; a[0] = 7; while (nd()) { i = nd(); if (i != 0) a[i] = nd(); } assert a[0] = 7
; Safe: cell 0 is never written.
(set-logic HORN)

(declare-fun M ((Array Int Int)) Bool)

(assert (forall ((a (Array Int Int)))
  (=> (= (select a 0) 7) (M a))))
(assert (forall ((a (Array Int Int)) (i Int) (v Int))
  (=> (and (M a) (not (= i 0))) (M (store a i v)))))
(assert (forall ((a (Array Int Int)))
  (=> (and (M a) (not (= (select a 0) 7))) false)))

(check-sat)
