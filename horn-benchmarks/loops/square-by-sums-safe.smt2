; s = x = 0; while (nd()) { s = s + 2*x + 1; x = x + 1; } assert s = x*x from x = 3 on (nonlinear)
; Safe: s = x * x.
(set-logic HORN)

(declare-fun Sq (Int Int) Bool)

(assert (Sq 0 0))
(assert (forall ((s Int) (x Int))
  (=> (Sq s x) (Sq (+ s (* 2 x) 1) (+ x 1)))))
(assert (forall ((s Int) (x Int))
  (=> (and (Sq s x) (>= x 3) (not (= s (* x x)))) false)))

(check-sat)
