; SAFARI (LPAR 2012), "initialization": for (i = 0; i < n; i++) a[i] = v; assert all of a[0..n) is v.
; Safe: every index below i holds v.
(set-logic HORN)

(declare-fun Loop ((Array Int Int) Int Int Int) Bool)
(declare-fun Exit ((Array Int Int) Int Int) Bool)

(assert (forall ((a (Array Int Int)) (n Int) (v Int))
  (Loop a n v 0)))
(assert (forall ((a (Array Int Int)) (a1 (Array Int Int)) (n Int) (v Int) (i Int))
  (=> (and (Loop a n v i) (< i n) (= a1 (store a i v))) (Loop a1 n v (+ i 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (v Int) (i Int))
  (=> (and (Loop a n v i) (>= i n)) (Exit a n v))))
(assert (forall ((a (Array Int Int)) (n Int) (v Int) (x Int))
  (=> (and (Exit a n v) (<= 0 x) (< x n) (not (= (select a x) v))) false)))

(check-sat)
