; Lists and how many of their elements are positive; assert that a list after an insertion somewhere
; of a positive element has one more.
; Safe: by the function that counts them.
(set-logic HORN)

(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))
(declare-fun insert (Int Lst Lst) Bool)
(declare-fun positive (Lst Int) Bool)

(assert (forall ((e Int) (x Lst))
  (=> (> e 0) (insert e x (cons e x)))))
(assert (forall ((e Int) (h Int) (x Lst) (y Lst))
  (=> (insert e x y) (insert e (cons h x) (cons h y)))))
(assert (positive nil 0))
(assert (forall ((h Int) (x Lst) (n Int))
  (=> (positive x n) (positive (cons h x) (ite (> h 0) (+ n 1) n)))))
(assert (forall ((e Int) (x Lst) (y Lst) (n Int) (m Int))
  (=> (and (insert e x y) (positive x n) (positive y m) (not (= m (+ n 1)))) false)))

(check-sat)
