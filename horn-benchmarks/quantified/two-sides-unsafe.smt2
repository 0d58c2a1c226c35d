; An array is filled with sevens from both ends until the indices meet.
; Unsafe: the indices may stop one element apart.
(set-logic HORN)
(declare-fun L ((Array Int Int) Int Int Int) Bool)
(assert (forall ((a (Array Int Int)) (n Int))
  (=> (> n 0) (L a n 0 (- n 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (j Int))
  (=> (and (L a n i j) (< i j)) (L (store (store a i 7) j 7) n (+ i 1) (- j 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (j Int) (k Int))
  (=> (and (L a n i j) (>= i j) (<= 0 k) (< k n) (not (= (select a k) 7))) false)))
(check-sat)
