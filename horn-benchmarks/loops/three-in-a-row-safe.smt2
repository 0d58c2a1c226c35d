; Three loops in sequence, each moves n tokens from one pot to the next; the last pot holds n at the end.
; Safe: a + b + c + d = n throughout.
(set-logic HORN)

(declare-fun L1 (Int Int Int) Bool)
(declare-fun L2 (Int Int Int) Bool)
(declare-fun L3 (Int Int Int) Bool)

(assert (forall ((n Int))
  (=> (>= n 0) (L1 n n 0))))
(assert (forall ((n Int) (a Int) (b Int))
  (=> (and (L1 n a b) (> a 0)) (L1 n (- a 1) (+ b 1)))))
(assert (forall ((n Int) (a Int) (b Int))
  (=> (and (L1 n a b) (= a 0)) (L2 n b 0))))
(assert (forall ((n Int) (b Int) (c Int))
  (=> (and (L2 n b c) (> b 0)) (L2 n (- b 1) (+ c 1)))))
(assert (forall ((n Int) (b Int) (c Int))
  (=> (and (L2 n b c) (= b 0)) (L3 n c 0))))
(assert (forall ((n Int) (c Int) (d Int))
  (=> (and (L3 n c d) (> c 0)) (L3 n (- c 1) (+ d 1)))))
(assert (forall ((n Int) (c Int) (d Int))
  (=> (and (L3 n c d) (= c 0) (not (= d n))) false)))

(check-sat)
