; An array of arrays: row 0, column 0 is fixed, all else may change; assert m[0][0] = 1.
; Safe: writes go to m[i][j] with i != 0 or j != 0.
(set-logic HORN)

(declare-fun Mat ((Array Int (Array Int Int))) Bool)

(assert (forall ((m (Array Int (Array Int Int))))
  (=> (= (select (select m 0) 0) 1) (Mat m))))
(assert (forall ((m (Array Int (Array Int Int))) (i Int) (j Int) (v Int))
  (=> (and (Mat m) (or (not (= i 0)) (not (= j 0)))) (Mat (store m i (store (select m i) j v))))))
(assert (forall ((m (Array Int (Array Int Int))) (r (Array Int Int)) (i Int))
  (=> (and (Mat m) (> i 0)) (Mat (store m i r)))))
(assert (forall ((m (Array Int (Array Int Int))))
  (=> (and (Mat m) (not (= (select (select m 0) 0) 1))) false)))

(check-sat)
