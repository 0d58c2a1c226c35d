; expect: sat
; with: engine=vinta vinta.domain=octagons
; Octagons took the absolute value of a constant that has none in 64 bits.
(set-logic HORN)
(declare-fun P (Int Int Int) Bool)
(assert (P 0 0 (- 9223372036854775808)))
(assert (forall ((x Int) (y Int) (z Int) (n Int))
  (=> (and (P x y z) (or (= n (- 9223372036854775808)) (>= n (- z 1))) (<= x (+ y 5)))
      (P (+ x 1) (+ y 1) (ite (< x 100) (+ n 1) z)))))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (P x y z) (or (> x y) (< z (- 9223372036854775808)))) false)))
(check-sat)
