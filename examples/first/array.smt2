; for (i = 0; i < n; i++) a[i] = 7;
; assert(0 <= k && k < n ==> a[k] == 7), for any k
(set-logic HORN)
(declare-fun Head ((Array Int Int) Int Int) Bool)

(assert (forall ((a (Array Int Int)) (n Int) (i Int))
  (=> (= i 0) (Head a n i))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int))
  (=> (and (Head a n i) (< i n)) (Head (store a i 7) n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (k Int))
  (=> (and (Head a n i) (>= i n) (<= 0 k) (< k n) (not (= (select a k) 7))) false)))

(check-sat)
