; Each element is replaced by the next one; b is the array before.
; Safe: a[k] = b[k + 1] for all k below n - 1.
(set-logic HORN)
(declare-fun L ((Array Int Int) (Array Int Int) Int Int) Bool)
(assert (forall ((a (Array Int Int)) (n Int))
  (=> (> n 0) (L a a n 0))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (i Int))
  (=> (and (L a b n i) (< i (- n 1))) (L (store a i (select a (+ i 1))) b n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (i Int) (k Int))
  (=> (and (L a b n i) (>= i (- n 1)) (<= 0 k) (< k (- n 1)) (not (= (select a k) (select b (+ k 1))))) false)))
(check-sat)
