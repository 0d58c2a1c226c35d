; A heap with an allocator: p and q are allocated one after the other; *p = 1; *q = 2; other allocations follow; assert *p = 1.
; Safe: addresses are handed out once.
; H heap next p q phase
(set-logic HORN)

(declare-fun H ((Array Int Int) Int Int Int Int) Bool)

(assert (forall ((h (Array Int Int)) (n Int))
  (H h n n n 0)))
(assert (forall ((h (Array Int Int)) (n Int) (p Int) (q Int))
  (=> (H h n p q 0) (H (store h n 1) (+ n 1) n q 1))))
(assert (forall ((h (Array Int Int)) (n Int) (p Int) (q Int))
  (=> (H h n p q 1) (H (store h n 2) (+ n 1) p n 2))))
(assert (forall ((h (Array Int Int)) (n Int) (p Int) (q Int))
  (=> (H h n p q 2) (H h (- n 1) p q 1))))
(assert (forall ((h (Array Int Int)) (n Int) (p Int) (q Int) (s Int))
  (=> (and (H h n p q s) (>= s 1) (not (= (select h p) 1))) false)))

(check-sat)
