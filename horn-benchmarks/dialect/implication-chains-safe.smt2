; Syntax: nested and n-ary implications, chained comparisons, distinct of several terms.
; Safe: P holds between 0 and 3.
(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun Q (Int) Bool)
(assert (forall ((x Int)) (=> (< (- 1) x 4) (P x))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (P x) (P y) (P z) (distinct x y z) (= (+ x y) z 3) (Q z))))
(assert (forall ((x Int)) (=> (Q x) (=> (P x) (=> (not (= x 3)) false)))))
(check-sat)
