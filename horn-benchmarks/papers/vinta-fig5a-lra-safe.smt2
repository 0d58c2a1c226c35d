; VINTA (SAS 2012), Fig. 5(a), over the reals: x = 0; while (x < 10) { if (x == 9) error; x = x + 2; }
; Safe: only 0, 2, 4, 6, 8 and 10 are reached; a proof is a finite union of intervals.
(set-logic HORN)

(declare-fun L2 (Real) Bool)

(assert (forall ((x Real))
  (=> (= x 0.0) (L2 x))))
(assert (forall ((x Real) (x1 Real))
  (=> (and (L2 x) (< x 10.0) (not (= x 9.0)) (= x1 (+ x 2.0))) (L2 x1))))
(assert (forall ((x Real))
  (=> (and (L2 x) (< x 10.0) (= x 9.0)) false)))

(check-sat)
