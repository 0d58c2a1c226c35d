; One pass of bubble sort: neighbours in the wrong order are swapped.
; Safe: the last element is the greatest one.
(set-logic HORN)
(declare-fun L ((Array Int Int) Int Int) Bool)
(assert (forall ((a (Array Int Int)) (n Int))
  (=> (> n 1) (L a n 0))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int))
  (=> (and (L a n i) (< i (- n 1)) (> (select a i) (select a (+ i 1)))) (L (store (store a i (select a (+ i 1))) (+ i 1) (select a i)) n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int))
  (=> (and (L a n i) (< i (- n 1)) (<= (select a i) (select a (+ i 1)))) (L a n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (k Int))
  (=> (and (L a n i) (>= i (- n 1)) (<= 0 k) (< k n) (> (select a k) (select a (- n 1)))) false)))
(check-sat)
