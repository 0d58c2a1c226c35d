; VINTA (SAS 2012), Fig. 5(a), reconstructed from the labels x <= 10 and x != 9 discussed in the text:
;   x = 1; while (x < 10) { if (x == 9) error; x = x + 2; }
; Unsafe: starting at 1, x = 9 is reached after four rounds.
(set-logic HORN)

(declare-fun L2 (Int) Bool)

(assert (forall ((x Int))
  (=> (= x 1) (L2 x))))
(assert (forall ((x Int) (x1 Int))
  (=> (and (L2 x) (< x 10) (not (= x 9)) (= x1 (+ x 2))) (L2 x1))))
(assert (forall ((x Int))
  (=> (and (L2 x) (< x 10) (= x 9)) false)))

(check-sat)
