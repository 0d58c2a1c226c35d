; Family arrays, N = 2, unsafe.
; N arrays of zeros, at an index that is fixed; each copies elements of the one before it, the first gets ones.
; Safe: no one is written at the index. Unsafe: ones go anywhere (N + 1 steps deep).
; Expected verdict: unsat
(set-logic HORN)
(declare-fun Memory (Int (Array Int Int) (Array Int Int)) Bool)
(assert (forall ((k Int) (a0 (Array Int Int)) (a1 (Array Int Int)))
  (=> (and (= (select a0 k) 0) (= (select a1 k) 0)) (Memory k a0 a1))))
(assert (forall ((k Int) (a0 (Array Int Int)) (a1 (Array Int Int)) (i Int))
  (=> (Memory k a0 a1) (Memory k (store a0 i 1) a1))))
(assert (forall ((k Int) (a0 (Array Int Int)) (a1 (Array Int Int)) (i Int))
  (=> (Memory k a0 a1) (Memory k a0 (store a1 i (select a0 i))))))
(assert (forall ((k Int) (a0 (Array Int Int)) (a1 (Array Int Int)))
  (=> (and (Memory k a0 a1) (not (= (select a1 k) 0))) false)))
(check-sat)
