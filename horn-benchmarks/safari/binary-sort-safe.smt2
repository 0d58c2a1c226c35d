; SAFARI (LPAR 2012), "binary sort": insertion sort whose place of insertion is found by binary search.
;   for (i = 1; i < n; i++) {
;     key = a[i]; lo = 0; hi = i;
;     while (lo < hi) { mid = (lo + hi) / 2; if (a[mid] <= key) lo = mid+1; else hi = mid; }
;     for (j = i; j > lo; j--) a[j] = a[j-1];
;     a[lo] = key;
;   }
;   assert forall x, y. 0 <= x < y < n => a[x] <= a[y]
; Safe: a[0..i) stays sorted; the search keeps a[0..lo) <= key < a[hi..i).
(set-logic HORN)

(declare-fun Outer ((Array Int Int) Int Int) Bool)
(declare-fun Search ((Array Int Int) Int Int Int Int Int) Bool)
(declare-fun Shift ((Array Int Int) Int Int Int Int Int) Bool)
(declare-fun Exit ((Array Int Int) Int) Bool)

(assert (forall ((a (Array Int Int)) (n Int))
  (Outer a n 1)))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (key Int))
  (=> (and (Outer a n i) (< i n) (= key (select a i))) (Search a n i key 0 i))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (key Int) (lo Int) (hi Int) (mid Int))
  (=> (and (Search a n i key lo hi) (< lo hi) (= mid (div (+ lo hi) 2)) (<= (select a mid) key))
      (Search a n i key (+ mid 1) hi))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (key Int) (lo Int) (hi Int) (mid Int))
  (=> (and (Search a n i key lo hi) (< lo hi) (= mid (div (+ lo hi) 2)) (> (select a mid) key))
      (Search a n i key lo mid))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (key Int) (lo Int) (hi Int))
  (=> (and (Search a n i key lo hi) (>= lo hi)) (Shift a n i key lo i))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (key Int) (lo Int) (j Int))
  (=> (and (Shift a n i key lo j) (> j lo))
      (Shift (store a j (select a (- j 1))) n i key lo (- j 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (key Int) (lo Int) (j Int))
  (=> (and (Shift a n i key lo j) (<= j lo)) (Outer (store a lo key) n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int))
  (=> (and (Outer a n i) (>= i n)) (Exit a n))))
(assert (forall ((a (Array Int Int)) (n Int) (x Int) (y Int))
  (=> (and (Exit a n) (<= 0 x) (< x y) (< y n) (> (select a x) (select a y))) false)))

(check-sat)
