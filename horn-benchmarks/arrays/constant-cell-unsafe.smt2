; a[0] = 7; while (nd()) { i = nd(); if (i != 0 || nd()) a[i] = nd(); } assert a[0] = 7
; Unsafe: cell 0 may be written too.
(set-logic HORN)

(declare-fun M ((Array Int Int)) Bool)

(assert (forall ((a (Array Int Int)))
  (=> (= (select a 0) 7) (M a))))
(assert (forall ((a (Array Int Int)) (i Int) (v Int))
  (=> (M a) (M (store a i v)))))
(assert (forall ((a (Array Int Int)))
  (=> (and (M a) (not (= (select a 0) 7))) false)))

(check-sat)
