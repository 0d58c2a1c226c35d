; The Collatz iteration from 5 (5 16 8 4 2 1 4 ...); it is an error to meet 3.
; Safe: the orbit is finite and 3 is not in it; shorter, no multiple of 3 is ever reached.
(set-logic HORN)

(declare-fun C (Int) Bool)

(assert (C 5))
(assert (forall ((x Int) (x1 Int))
  (=> (and (C x) (= x1 (ite (= (mod x 2) 0) (div x 2) (+ (* 3 x) 1)))) (C x1))))
(assert (forall ((x Int))
  (=> (and (C x) (= x 3)) false)))

(check-sat)
