; Syntax: div, mod, abs and unary minus with negative operands, as SMT-LIB defines them.
; Safe: -7 div 2 = -4 and -7 mod 2 = 1, -7 div -2 = 4, 7 mod -2 = 1.
(set-logic HORN)
(declare-fun P (Int Int Int) Bool)
(assert (forall ((x Int)) (=> (= (abs x) 7) (P x (div x 2) (mod x 2)))))
(assert (forall ((x Int) (q Int) (r Int)) (=> (and (P x q r) (= x (- 7)) (not (and (= q (- 4)) (= r 1)))) false)))
(assert (forall ((x Int) (q Int) (r Int)) (=> (and (P x q r) (not (= (div (- 7) (- 2)) 4))) false)))
(assert (forall ((x Int) (q Int) (r Int)) (=> (and (P x q r) (= x 7) (not (= (mod x (- 2)) 1))) false)))
(check-sat)
