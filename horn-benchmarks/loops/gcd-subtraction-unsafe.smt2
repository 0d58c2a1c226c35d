; while (a != b) if (a > b) a = a - b; else b = b - a;   with a, b >= 1; assert a >= 2 at the end
; Unsafe: gcd(2, 1) = 1.
(set-logic HORN)

(declare-fun G (Int Int) Bool)

(assert (forall ((a Int) (b Int))
  (=> (and (>= a 1) (>= b 1)) (G a b))))
(assert (forall ((a Int) (b Int))
  (=> (and (G a b) (> a b)) (G (- a b) b))))
(assert (forall ((a Int) (b Int))
  (=> (and (G a b) (< a b)) (G a (- b a)))))
(assert (forall ((a Int) (b Int))
  (=> (and (G a b) (= a b) (< a 2)) false)))

(check-sat)
