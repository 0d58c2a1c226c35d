; Elements at even indices become zero and those at odd indices one, two in each round.
; Safe: the elements at even indices are zero.
(set-logic HORN)
(declare-fun L ((Array Int Int) Int Int) Bool)
(assert (forall ((a (Array Int Int)) (n Int))
  (=> (> n 0) (L a n 0))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int))
  (=> (and (L a n i) (< i n)) (L (store (store a i 0) (+ i 1) 1) n (+ i 2)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (k Int))
  (=> (and (L a n i) (>= i n) (<= 0 k) (< k n) (= (mod k 2) 0) (not (= (select a k) 0))) false)))
(check-sat)
