; for (i = 0; i < n; i++) for (j = 0; j < i; j++) assert 0 <= j && j < n
; Safe: j < i < n.
(set-logic HORN)

(declare-fun Outer (Int Int) Bool)
(declare-fun Inner (Int Int Int) Bool)

(assert (forall ((n Int))
  (Outer n 0)))
(assert (forall ((n Int) (i Int))
  (=> (and (Outer n i) (< i n)) (Inner n i 0))))
(assert (forall ((n Int) (i Int) (j Int))
  (=> (and (Inner n i j) ( < j i)) (Inner n i (+ j 1)))))
(assert (forall ((n Int) (i Int) (j Int))
  (=> (and (Inner n i j) (not ( < j i))) (Outer n (+ i 1)))))
(assert (forall ((n Int) (i Int) (j Int))
  (=> (and (Inner n i j) ( < j i) (not (and (<= 0 j) (< j n)))) false)))

(check-sat)
