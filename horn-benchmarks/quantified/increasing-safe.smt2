; Each element is greater than the one before it by a positive amount.
; Safe: a[j] < a[k] for all j < k below n.
(set-logic HORN)
(declare-fun L ((Array Int Int) Int Int) Bool)
(assert (forall ((a (Array Int Int)) (n Int))
  (=> (> n 0) (L a n 1))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (e Int))
  (=> (and (L a n i) (< i n) (> e 0)) (L (store a i (+ (select a (- i 1)) e)) n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (j Int) (k Int))
  (=> (and (L a n i) (>= i n) (<= 0 j) (< j k) (< k n) (>= (select a j) (select a k))) false)))
(check-sat)
