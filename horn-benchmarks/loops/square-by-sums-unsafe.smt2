; s = x = 0; while (nd()) { s = s + 2*x + 1; x = x + 1; } assert s = x*x - 1 from x = 3 on (nonlinear)
; Unsafe: x = 3, s = 9.
(set-logic HORN)

(declare-fun Sq (Int Int) Bool)

(assert (Sq 0 0))
(assert (forall ((s Int) (x Int))
  (=> (Sq s x) (Sq (+ s (* 2 x) 1) (+ x 1)))))
(assert (forall ((s Int) (x Int))
  (=> (and (Sq s x) (>= x 3) (not (= s (- (* x x) 1)))) false)))

(check-sat)
