; Family arrays, N = 6, unsafe.
; N arrays of zeros, at an index that is fixed; each copies elements of the one before it, the first gets ones.
; Safe: no one is written at the index. Unsafe: ones go anywhere (N + 1 steps deep).
; Expected verdict: unsat
(set-logic HORN)
(declare-fun Memory (Int (Array Int Int) (Array Int Int) (Array Int Int) (Array Int Int) (Array Int Int) (Array Int Int)) Bool)
(assert (forall ((k Int) (a0 (Array Int Int)) (a1 (Array Int Int)) (a2 (Array Int Int)) (a3 (Array Int Int)) (a4 (Array Int Int)) (a5 (Array Int Int)))
  (=> (and (= (select a0 k) 0) (= (select a1 k) 0) (= (select a2 k) 0) (= (select a3 k) 0) (= (select a4 k) 0) (= (select a5 k) 0)) (Memory k a0 a1 a2 a3 a4 a5))))
(assert (forall ((k Int) (a0 (Array Int Int)) (a1 (Array Int Int)) (a2 (Array Int Int)) (a3 (Array Int Int)) (a4 (Array Int Int)) (a5 (Array Int Int)) (i Int))
  (=> (Memory k a0 a1 a2 a3 a4 a5) (Memory k (store a0 i 1) a1 a2 a3 a4 a5))))
(assert (forall ((k Int) (a0 (Array Int Int)) (a1 (Array Int Int)) (a2 (Array Int Int)) (a3 (Array Int Int)) (a4 (Array Int Int)) (a5 (Array Int Int)) (i Int))
  (=> (Memory k a0 a1 a2 a3 a4 a5) (Memory k a0 (store a1 i (select a0 i)) a2 a3 a4 a5))))
(assert (forall ((k Int) (a0 (Array Int Int)) (a1 (Array Int Int)) (a2 (Array Int Int)) (a3 (Array Int Int)) (a4 (Array Int Int)) (a5 (Array Int Int)) (i Int))
  (=> (Memory k a0 a1 a2 a3 a4 a5) (Memory k a0 a1 (store a2 i (select a1 i)) a3 a4 a5))))
(assert (forall ((k Int) (a0 (Array Int Int)) (a1 (Array Int Int)) (a2 (Array Int Int)) (a3 (Array Int Int)) (a4 (Array Int Int)) (a5 (Array Int Int)) (i Int))
  (=> (Memory k a0 a1 a2 a3 a4 a5) (Memory k a0 a1 a2 (store a3 i (select a2 i)) a4 a5))))
(assert (forall ((k Int) (a0 (Array Int Int)) (a1 (Array Int Int)) (a2 (Array Int Int)) (a3 (Array Int Int)) (a4 (Array Int Int)) (a5 (Array Int Int)) (i Int))
  (=> (Memory k a0 a1 a2 a3 a4 a5) (Memory k a0 a1 a2 a3 (store a4 i (select a3 i)) a5))))
(assert (forall ((k Int) (a0 (Array Int Int)) (a1 (Array Int Int)) (a2 (Array Int Int)) (a3 (Array Int Int)) (a4 (Array Int Int)) (a5 (Array Int Int)) (i Int))
  (=> (Memory k a0 a1 a2 a3 a4 a5) (Memory k a0 a1 a2 a3 a4 (store a5 i (select a4 i))))))
(assert (forall ((k Int) (a0 (Array Int Int)) (a1 (Array Int Int)) (a2 (Array Int Int)) (a3 (Array Int Int)) (a4 (Array Int Int)) (a5 (Array Int Int)))
  (=> (and (Memory k a0 a1 a2 a3 a4 a5) (not (= (select a5 k) 0))) false)))
(check-sat)
