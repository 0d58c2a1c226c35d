; Syntax: and and or with a single argument, nested ands, true in bodies.
; Unsafe: x = 1 too.

(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (forall ((x Int)) (=> (and (= x 0)) (P x))))
(assert (forall ((x Int)) (=> (and (and (P x)) (and true (or (= x 0)))) (P (+ x 1)))))
(assert (forall ((x Int)) (=> (and (and (and (P x) (or (> x 0))))) false)))
(check-sat)
