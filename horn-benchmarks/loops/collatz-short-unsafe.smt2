; The Collatz iteration from 5 (5 16 8 4 2 1 4 ...); it is an error to meet 8.
; Unsafe: 8 is met after 2 steps.
(set-logic HORN)

(declare-fun C (Int) Bool)

(assert (C 5))
(assert (forall ((x Int) (x1 Int))
  (=> (and (C x) (= x1 (ite (= (mod x 2) 0) (div x 2) (+ (* 3 x) 1)))) (C x1))))
(assert (forall ((x Int))
  (=> (and (C x) (= x 8)) false)))

(check-sat)
