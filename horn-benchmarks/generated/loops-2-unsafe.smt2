; Family loops, N = 2, unsafe.
; N loops in sequence, each runs from 0 to m and counts its rounds in the same variable. Safe: the sum is N*m
; at the end. Unsafe: the last loop stops one round early.
; Expected verdict: unsat
(set-logic HORN)
(declare-fun Loop0 (Int Int Int) Bool)
(declare-fun Loop1 (Int Int Int) Bool)
(declare-fun Exit (Int Int) Bool)
(assert (forall ((m Int))
  (=> (> m 0) (Loop0 m 0 0))))
(assert (forall ((m Int) (j Int) (s Int))
  (=> (and (Loop0 m j s) (< j m)) (Loop0 m (+ j 1) (+ s 1)))))
(assert (forall ((m Int) (j Int) (s Int))
  (=> (and (Loop0 m j s) (>= j m)) (Loop1 m 0 s))))
(assert (forall ((m Int) (j Int) (s Int))
  (=> (and (Loop1 m j s) (< j (- m 1))) (Loop1 m (+ j 1) (+ s 1)))))
(assert (forall ((m Int) (j Int) (s Int))
  (=> (and (Loop1 m j s) (>= j (- m 1))) (Exit m s))))
(assert (forall ((m Int) (s Int))
  (=> (and (Exit m s) (not (= s (* 2 m)))) false)))
(check-sat)
