; s = 0; for (i = 0; i < n; i++) s = s + i; assert s >= i - 1
; Safe: s >= i - 1 (s = i(i-1)/2).
(set-logic HORN)

(declare-fun Sum (Int Int Int) Bool)

(assert (forall ((n Int))
  (Sum n 0 0)))
(assert (forall ((n Int) (i Int) (s Int))
  (=> (and (Sum n i s) (< i n)) (Sum n (+ i 1) (+ s i)))))
(assert (forall ((n Int) (i Int) (s Int))
  (=> (and (Sum n i s) (< s (- i 1))) false)))

(check-sat)
