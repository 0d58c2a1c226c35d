; Syntax: let-bound names that stand for predicate atoms.
; Unsafe: both hold of 5.

(set-logic HORN)
(declare-fun P (Int) Bool)
(declare-fun Q (Int) Bool)
(assert (forall ((x Int)) (let ((h (P x)) (c (<= x 5))) (=> c h))))
(assert (forall ((x Int)) (let ((h (Q x)) (c (>= x 5))) (=> c h))))
(assert (forall ((x Int)) (let ((p (P x)) (q (Q x))) (let ((both (and p q))) (=> both false)))))
(check-sat)
