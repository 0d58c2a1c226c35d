; Syntax: a negated existential over two predicates and a let.
; Safe: P is below Q.
(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun Q (Int) Bool)
(assert (forall ((x Int)) (=> (<= x 7) (P x))))
(assert (forall ((x Int)) (=> (>= x 8) (Q x))))
(assert (not (exists ((x Int) (y Int)) (let ((d (- y x))) (and (Q y) (P x) (<= d 0))))))
(check-sat)
