; The Collatz iteration from 7 (7 22 11 34 17 52 26 13 40 20 10 5 16 8 4 2 1 4 ...); it is an error to meet 13.
; Unsafe: 13 is met after 7 steps.
(set-logic HORN)

(declare-fun C (Int) Bool)

(assert (C 7))
(assert (forall ((x Int))
  (=> (and (C x) (= (mod x 2) 0)) (C (div x 2)))))
(assert (forall ((x Int))
  (=> (and (C x) (= (mod x 2) 1)) (C (+ (* 3 x) 1)))))
(assert (forall ((x Int))
  (=> (and (C x) (= x 13)) false)))

(check-sat)
