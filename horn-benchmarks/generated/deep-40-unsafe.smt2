; Family deep, N = 40, unsafe.
; A counter up to N. Safe: it stays at N. Unsafe: N is reached, the error is N steps deep.
; Expected verdict: unsat
(set-logic HORN)
(declare-fun Count (Int) Bool)
(assert (Count 0))
(assert (forall ((x Int))
  (=> (and (Count x) (< x 40)) (Count (+ x 1)))))
(assert (forall ((x Int))
  (=> (and (Count x) (= x 40)) false)))
(check-sat)
