; Syntax: a negated existential over two predicates and a let.
; Unsafe: P and Q meet at 7.

(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun Q (Int) Bool)
(assert (forall ((x Int)) (=> (<= x 7) (P x))))
(assert (forall ((x Int)) (=> (>= x 7) (Q x))))
(assert (not (exists ((x Int) (y Int)) (let ((d (- y x))) (and (Q y) (P x) (<= d 0))))))
(check-sat)
