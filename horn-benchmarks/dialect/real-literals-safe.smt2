; Syntax: decimals with many digits, quotients of literals, negative literals as (- 1.5).
; Safe: 1/10 + 1/5 is exactly 3/10.
(set-logic HORN)
(declare-fun P (Real) Bool)
(assert (forall ((x Real)) (=> (= x (+ (/ 1.0 10.0) 0.2)) (P x))))
(assert (forall ((x Real)) (=> (and (P x) (< x (- 1.5))) (P (* 2.0 x)))))
(assert (forall ((x Real)) (=> (and (P x) (not (>= x 0.3))) false)))
(check-sat)
