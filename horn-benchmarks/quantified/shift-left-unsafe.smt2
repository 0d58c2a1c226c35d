; Each element is replaced by the next one; b is the array before.
; Unsafe: each element is replaced by the first one.
(set-logic HORN)
(declare-fun L ((Array Int Int) (Array Int Int) Int Int) Bool)
(assert (forall ((a (Array Int Int)) (n Int))
  (=> (> n 0) (L a a n 0))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (i Int))
  (=> (and (L a b n i) (< i (- n 1))) (L (store a i (select a 0)) b n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (i Int) (k Int))
  (=> (and (L a b n i) (>= i (- n 1)) (<= 0 k) (< k (- n 1)) (not (= (select a k) (select b (+ k 1))))) false)))
(check-sat)
