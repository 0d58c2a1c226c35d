; Three nested loops over 0 <= i <= j <= k <= n; the innermost body asserts i < k.
; Unsafe: i = j = k = 0 violates i < k.
(set-logic HORN)

(declare-fun A (Int Int) Bool)
(declare-fun B (Int Int Int) Bool)
(declare-fun C (Int Int Int Int) Bool)

(assert (forall ((n Int))
  (A n 0)))
(assert (forall ((n Int) (i Int))
  (=> (and (A n i) (<= i n)) (B n i i))))
(assert (forall ((n Int) (i Int) (j Int))
  (=> (and (B n i j) (<= j n)) (C n i j j))))
(assert (forall ((n Int) (i Int) (j Int) (k Int))
  (=> (and (C n i j k) (<= k n)) (C n i j (+ k 1)))))
(assert (forall ((n Int) (i Int) (j Int) (k Int))
  (=> (and (C n i j k) (> k n)) (B n i (+ j 1)))))
(assert (forall ((n Int) (i Int) (j Int))
  (=> (and (B n i j) (> j n)) (A n (+ i 1)))))
(assert (forall ((n Int) (i Int) (j Int) (k Int))
  (=> (and (C n i j k) (<= k n) (not (< i k))) false)))

(check-sat)
