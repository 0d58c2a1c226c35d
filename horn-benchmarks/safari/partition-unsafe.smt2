; SAFARI (LPAR 2012), "partition": the elements of a are split by sign into two arrays.
;   i = j = k = 0;
;   while (i < n) { if (a[i] >= -1) b[j++] = a[i]; else c[k++] = a[i]; i++; }
;   assert forall x. 0 <= x < j => b[x] >= 0, and forall x. 0 <= x < k => c[x] < 0
; Unsafe: -1 goes to b.
(set-logic HORN)

(declare-fun Loop ((Array Int Int) (Array Int Int) (Array Int Int) Int Int Int Int) Bool)
(declare-fun Exit ((Array Int Int) (Array Int Int) Int Int) Bool)

(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (n Int))
  (Loop a b c n 0 0 0)))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (n Int) (i Int)
                 (j Int) (k Int))
  (=> (and (Loop a b c n i j k) (< i n) (>= (select a i) (- 1)))
      (Loop a (store b j (select a i)) c n (+ i 1) (+ j 1) k))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (n Int) (i Int)
                 (j Int) (k Int))
  (=> (and (Loop a b c n i j k) (< i n) (< (select a i) (- 1)))
      (Loop a b (store c k (select a i)) n (+ i 1) j (+ k 1)))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (n Int) (i Int)
                 (j Int) (k Int))
  (=> (and (Loop a b c n i j k) (>= i n)) (Exit b c j k))))
(assert (forall ((b (Array Int Int)) (c (Array Int Int)) (j Int) (k Int) (x Int))
  (=> (and (Exit b c j k) (<= 0 x) (< x j) (< (select b x) 0)) false)))
(assert (forall ((b (Array Int Int)) (c (Array Int Int)) (j Int) (k Int) (x Int))
  (=> (and (Exit b c j k) (<= 0 x) (< x k) (>= (select c x) 0)) false)))

(check-sat)
