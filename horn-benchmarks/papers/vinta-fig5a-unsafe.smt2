; VINTA (SAS 2012), Fig. 5(a), reconstructed from the labels that the text tells of, x <= 10 and x != 9:
;   x = 17; while (nd()) x = x - 2; if (x == 9) error
; Unsafe: starting at 17, x = 9 is reached after four rounds.
(set-logic HORN)

(declare-fun L2 (Int) Bool)

(assert (forall ((x Int))
  (=> (= x 17) (L2 x))))
(assert (forall ((x Int) (x1 Int))
  (=> (and (L2 x) (= x1 (- x 2))) (L2 x1))))
(assert (forall ((x Int))
  (=> (and (L2 x) (= x 9)) false)))

(check-sat)
