; gcd(a, b) by subtraction, a, b >= 1. assert 1 <= gcd(a, b) <= a
; Safe: the result is positive and at most both arguments.
(set-logic HORN)

(declare-fun Gcd (Int Int Int) Bool)

(assert (forall ((a Int))
  (=> (>= a 1) (Gcd a a a))))
(assert (forall ((a Int) (b Int) (g Int))
  (=> (and (> a b) (>= b 1) (Gcd (- a b) b g)) (Gcd a b g))))
(assert (forall ((a Int) (b Int) (g Int))
  (=> (and (< a b) (>= a 1) (Gcd a (- b a) g)) (Gcd a b g))))
(assert (forall ((a Int) (b Int) (g Int))
  (=> (and (Gcd a b g) (or (< g 1) (> g a) (> g b) false)) false)))

(check-sat)
