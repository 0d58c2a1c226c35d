; expect: sat
; One cell `v` at `k` of an array that a loop fills. Lemmas exclude one `k` after the other, and
; together what is conjectured of them.
(set-logic HORN)
(declare-fun P (Int Int Int Int Int) Bool)
(declare-fun Q (Int Int Int Int Int) Bool)
(assert (forall ((i Int) (c Int) (n Int) (k Int) (v Int)) (=> (and (= i 0) (>= n 1)) (P i c n k v))))
(assert (forall ((i Int) (c Int) (n Int) (k Int) (v Int))
  (=> (and (P i c n k v) (< i n)) (P (+ i 1) c n k (ite (= k i) c v)))))
(assert (forall ((i Int) (c Int) (n Int) (k Int) (v Int) (j Int))
  (=> (and (P i c n k v) (>= i n) (= j 0)) (Q j c n k v))))
(assert (forall ((i Int) (c Int) (n Int) (k Int) (v Int))
  (=> (and (Q i c n k v) (< i n) (or (not (= i k)) (<= c v))) (Q (+ i 1) c n k v))))
(assert (forall ((i Int) (c Int) (n Int) (k Int) (v Int))
  (=> (and (Q i c n k v) (< i n) (= k i) (> c v)) false)))
(check-sat)
