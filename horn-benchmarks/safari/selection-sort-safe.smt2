; SAFARI (LPAR 2012), "selection sort":
;   for (i = 0; i < n; i++) {
;     m = i; for (j = i+1; j < n; j++) if (a[j] < a[m]) m = j;
;     swap a[i] and a[m];
;   }
;   assert forall x, y. 0 <= x < y < n => a[x] <= a[y]
; Safe: a[0..i) is sorted and bounds the rest from below; a[m] is the least element of a[i..j).
(set-logic HORN)

(declare-fun Outer ((Array Int Int) Int Int) Bool)
(declare-fun Inner ((Array Int Int) Int Int Int Int) Bool)

(assert (forall ((a (Array Int Int)) (n Int))
  (Outer a n 0)))
(assert (forall ((a (Array Int Int)) (n Int) (i Int))
  (=> (and (Outer a n i) (< i n)) (Inner a n i i (+ i 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (m Int) (j Int))
  (=> (and (Inner a n i m j) (< j n) (< (select a j) (select a m))) (Inner a n i j (+ j 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (m Int) (j Int))
  (=> (and (Inner a n i m j) (< j n) (>= (select a j) (select a m))) (Inner a n i m (+ j 1)))))
(assert (forall ((a (Array Int Int)) (a1 (Array Int Int)) (n Int) (i Int) (m Int) (j Int))
  (=> (and (Inner a n i m j) (>= j n) (= a1 (store (store a i (select a m)) m (select a i))))
      (Outer a1 n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int) (x Int) (y Int))
  (=> (and (Outer a n i) (>= i n) (<= 0 x) (< x y) (< y n) (> (select a x) (select a y))) false)))

(check-sat)
