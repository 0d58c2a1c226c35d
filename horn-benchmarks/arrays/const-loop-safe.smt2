; From a constant array of -1, the cells 1, 3, 5, ... are set to 0 and more; assert a[0] = -1.
; Safe: index 0 is never written.
(set-logic HORN)

(declare-fun C ((Array Int Int) Int) Bool)

(assert (forall ((a (Array Int Int)))
  (=> (= a ((as const (Array Int Int)) (- 1))) (C a 1))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (i Int) (v Int))
  (=> (and (C a i) (>= v 0) (= b (store a i v))) (C b (+ i 2)))))
(assert (forall ((a (Array Int Int)) (i Int))
  (=> (and (C a i) (not (= (select a 0) (- 1)))) false)))

(check-sat)
