; Family ring, N = 4, safe.
; A token ring of N processes, one Boolean for each; no two hold a token at the same time. Unsafe: the last
; process keeps the token when it passes it on (N steps deep).
; Expected verdict: sat
(set-logic HORN)
(declare-fun Ring (Bool Bool Bool Bool) Bool)
(assert (Ring true false false false))
(assert (forall ((t0 Bool) (t1 Bool) (t2 Bool) (t3 Bool))
  (=> (and (Ring t0 t1 t2 t3) t0) (Ring false true t2 t3))))
(assert (forall ((t0 Bool) (t1 Bool) (t2 Bool) (t3 Bool))
  (=> (and (Ring t0 t1 t2 t3) t1) (Ring t0 false true t3))))
(assert (forall ((t0 Bool) (t1 Bool) (t2 Bool) (t3 Bool))
  (=> (and (Ring t0 t1 t2 t3) t2) (Ring t0 t1 false true))))
(assert (forall ((t0 Bool) (t1 Bool) (t2 Bool) (t3 Bool))
  (=> (and (Ring t0 t1 t2 t3) t3) (Ring true t1 t2 false))))
(assert (forall ((t0 Bool) (t1 Bool) (t2 Bool) (t3 Bool))
  (=> (and (Ring t0 t1 t2 t3) (or (and t0 t1) (and t0 t2) (and t0 t3) (and t1 t2) (and t1 t3) (and t2 t3))) false)))
(check-sat)
