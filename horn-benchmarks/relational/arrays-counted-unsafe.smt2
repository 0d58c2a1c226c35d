; The elements with one value in a range, and in its two parts. Not so: if the element n is k.
(set-logic HORN)
(define-sort A () (Array Int Int))
(declare-fun having (A Int Int Int Int) Bool)
(assert (forall ((a A) (i Int) (k Int) (n Int)) (=> (>= i n) (having a k i n 0))))
(assert (forall ((a A) (i Int) (k Int) (n Int) (r Int)) (=> (and (< i n) (= (select a i) k) (having a k (+ i 1) n r)) (having a k i n (+ r 1)))))
(assert (forall ((a A) (i Int) (k Int) (n Int) (r Int)) (=> (and (< i n) (distinct (select a i) k) (having a k (+ i 1) n r)) (having a k i n r))))
(assert (forall ((a A) (k Int) (m Int) (n Int) (x Int) (y Int) (z Int)) (=> (and (having a k 0 m x) (having a k m (+ n 1) y) (having a k 0 n z) (<= 0 m) (<= m n) (distinct z (+ x y))) false)))
(check-sat)
