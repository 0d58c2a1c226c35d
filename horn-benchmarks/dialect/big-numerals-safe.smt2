; Syntax: numerals beyond 64 bits.
; Safe: x stays between the two bounds.
(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (P 340282366920938463463374607431768211455))
(assert (forall ((x Int)) (=> (and (P x) (<= x 340282366920938463463374607431768211456)) (P (+ x (- 1))))))
(assert (forall ((x Int)) (=> (and (P x) (> x 340282366920938463463374607431768211456)) false)))
(assert (forall ((x Int)) (=> (and (P x) (< x 1)) (P (+ x 123456789012345678901234567890)))))
(check-sat)
