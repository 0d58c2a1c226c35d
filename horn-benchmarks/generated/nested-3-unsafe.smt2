; Family nested, N = 3, unsafe.
; N nested loops; the index of each starts at that of the loop around it. Safe: the innermost index is at least
; the outermost one. Unsafe: the assertion asks for more.
; Expected verdict: unsat
(set-logic HORN)
(declare-fun Loop0 (Int Int) Bool)
(declare-fun Loop1 (Int Int Int) Bool)
(declare-fun Loop2 (Int Int Int Int) Bool)
(assert (forall ((m Int))
  (Loop0 m 0)))
(assert (forall ((m Int) (i0 Int))
  (=> (and (Loop0 m i0) (< i0 m)) (Loop1 m i0 i0))))
(assert (forall ((m Int) (i0 Int) (i1 Int))
  (=> (and (Loop1 m i0 i1) (< i1 m)) (Loop2 m i0 i1 i1))))
(assert (forall ((m Int) (i0 Int) (i1 Int))
  (=> (and (Loop1 m i0 i1) (>= i1 m)) (Loop0 m (+ i0 1)))))
(assert (forall ((m Int) (i0 Int) (i1 Int) (i2 Int))
  (=> (and (Loop2 m i0 i1 i2) (< i2 m)) (Loop2 m i0 i1 (+ i2 1)))))
(assert (forall ((m Int) (i0 Int) (i1 Int) (i2 Int))
  (=> (and (Loop2 m i0 i1 i2) (>= i2 m)) (Loop1 m i0 (+ i1 1)))))
(assert (forall ((m Int) (i0 Int) (i1 Int) (i2 Int))
  (=> (and (Loop2 m i0 i1 i2) (< i2 (+ i0 1))) false)))
(check-sat)
