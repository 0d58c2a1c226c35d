; Syntax: the query as a negated existential.
; Unsafe: P 8.

(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int)) (=> (= x 0) (P x))))
(assert (forall ((x Int)) (=> (P x) (P (+ x 4)))))
(assert (not (exists ((x Int)) (and (P x) (= x 8)))))
(check-sat)
