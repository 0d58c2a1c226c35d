; gcd(a, b) by subtraction, a, b >= 1. assert 1 <= gcd(a, b) <= a, and gcd(4, 6) != 2
; Unsafe: gcd(4, 6) = 2.
(set-logic HORN)

(declare-fun Gcd (Int Int Int) Bool)

(assert (forall ((a Int))
  (=> (>= a 1) (Gcd a a a))))
(assert (forall ((a Int) (b Int) (g Int))
  (=> (and (> a b) (>= b 1) (Gcd (- a b) b g)) (Gcd a b g))))
(assert (forall ((a Int) (b Int) (g Int))
  (=> (and (< a b) (>= a 1) (Gcd a (- b a) g)) (Gcd a b g))))
(assert (forall ((a Int) (b Int) (g Int))
  (=> (and (Gcd a b g) (or (< g 1) (> g a) (> g b) (and (= a 4) (= b 6) (= g 2)))) false)))

(check-sat)
