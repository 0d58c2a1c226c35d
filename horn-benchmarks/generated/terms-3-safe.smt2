; Family terms, N = 3, safe.
; A clause with a term nested N deep, in sums and in lets; x is raised by N each round. Safe: x is a multiple
; of N, so it is not N + 1 (or -1 when N is 1). Unsafe: x reaches 2N.
; Expected verdict: sat
(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (P 0))
(assert (forall ((x Int))
  (=> (P x) (P (let ((v!1 (let ((v!0 (+ 1 x))) (+ v!0 1)))) (+ v!1 1))))))
(assert (forall ((x Int))
  (=> (and (P x) (= x 4)) false)))
(check-sat)
