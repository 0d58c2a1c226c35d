; SAFARI (LPAR 2012), "max in array":
;   m = a[0]; for (i = 1; i < n; i++) if (a[i] > m) m = a[i];
;   assert forall x. 0 <= x < n => a[x] <= m, and m = a[k] for the k that raised m last
; Safe: m bounds every index below i and is a[k].
(set-logic HORN)

(declare-fun Loop ((Array Int Int) Int Int Int Int) Bool)
(declare-fun Exit ((Array Int Int) Int Int Int) Bool)

(assert (forall ((a (Array Int Int)) (n Int) (m Int))
  (=> (and (> n 0) (= m (select a 0))) (Loop a n 1 m 0))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (m Int) (k Int))
  (=> (and (Loop a n i m k) (< i n) (> (select a i) m)) (Loop a n (+ i 1) (select a i) i))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (m Int) (k Int))
  (=> (and (Loop a n i m k) (< i n) (<= (select a i) m)) (Loop a n (+ i 1) m k))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (m Int) (k Int))
  (=> (and (Loop a n i m k) (>= i n)) (Exit a n m k))))
(assert (forall ((a (Array Int Int)) (n Int) (m Int) (k Int) (x Int))
  (=> (and (Exit a n m k) (<= 0 x) (< x n) (> (select a x) m)) false)))
(assert (forall ((a (Array Int Int)) (n Int) (m Int) (k Int))
  (=> (and (Exit a n m k) (not (= (select a k) m))) false)))

(check-sat)
