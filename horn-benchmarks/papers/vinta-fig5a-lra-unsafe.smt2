; VINTA (SAS 2012), Fig. 5(a), over the reals, reconstructed from the labels that the text tells of, x <= 10 and x != 9:
;   x = 17; while (nd()) x = x - 2; if (x == 9) error
; Unsafe: starting at 17, x = 9 is reached after four rounds.
(set-logic HORN)

(declare-fun L2 (Real) Bool)

(assert (forall ((x Real))
  (=> (= x 17.0) (L2 x))))
(assert (forall ((x Real) (x1 Real))
  (=> (and (L2 x) (= x1 (- x 2.0))) (L2 x1))))
(assert (forall ((x Real))
  (=> (and (L2 x) (= x 9.0)) false)))

(check-sat)
