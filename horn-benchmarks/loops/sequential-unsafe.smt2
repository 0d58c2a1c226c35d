; i = k = 0; while (i < n) { i++; k++; }  j = n; while (j > 0) { j--; k--; }  assert k = 0   (n > 0)
; Unsafe: the second loop stops at j = 1.
(set-logic HORN)

(declare-fun Up (Int Int Int) Bool)
(declare-fun Down (Int Int Int) Bool)

(assert (forall ((n Int))
  (=> (> n 0) (Up n 0 0))))
(assert (forall ((n Int) (i Int) (k Int))
  (=> (and (Up n i k) (< i n)) (Up n (+ i 1) (+ k 1)))))
(assert (forall ((n Int) (i Int) (k Int))
  (=> (and (Up n i k) (>= i n)) (Down n n k))))
(assert (forall ((n Int) (j Int) (k Int))
  (=> (and (Down n j k) (> j 1)) (Down n (- j 1) (- k 1)))))
(assert (forall ((n Int) (j Int) (k Int))
  (=> (and (Down n j k) (<= j 1) (not (= k 0))) false)))

(check-sat)
