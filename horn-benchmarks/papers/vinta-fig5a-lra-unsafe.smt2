; VINTA (SAS 2012), Fig. 5(a), over the reals: x = 1; while (x < 10) { if (x == 9) error; x = x + 2; }
; Unsafe: starting at 1, x = 9 is reached after four rounds.
(set-logic HORN)

(declare-fun L2 (Real) Bool)

(assert (forall ((x Real))
  (=> (= x 1.0) (L2 x))))
(assert (forall ((x Real) (x1 Real))
  (=> (and (L2 x) (< x 10.0) (not (= x 9.0)) (= x1 (+ x 2.0))) (L2 x1))))
(assert (forall ((x Real))
  (=> (and (L2 x) (< x 10.0) (= x 9.0)) false)))

(check-sat)
