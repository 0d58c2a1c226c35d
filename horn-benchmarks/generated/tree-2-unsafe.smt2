; Family tree, N = 2, unsafe.
; Tree recursion: a node of depth d has N children of depth d - 1; T(d, s) relates depth and size. Safe: the
; size is greater than the depth. Unsafe: the query asks for the tree of depth 2.
; Expected verdict: unsat
(set-logic HORN)
(declare-fun T (Int Int) Bool)
(assert (T 0 1))
(assert (forall ((d Int) (s0 Int) (s1 Int))
  (=> (and (>= d 0) (T d s0) (T d s1)) (T (+ d 1) (+ 1 s0 s1)))))
(assert (forall ((d Int) (s Int))
  (=> (and (T d s) (and (= d 2) (= s 7))) false)))
(check-sat)
