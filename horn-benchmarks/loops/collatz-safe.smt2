; The Collatz iteration from 7 (7 22 11 34 17 52 26 13 40 20 10 5 16 8 4 2 1 4 ...); it is an error to meet 21.
; Safe: the orbit is finite and 21 is not in it; shorter, no multiple of 3 is ever reached.
(set-logic HORN)

(declare-fun C (Int) Bool)

(assert (C 7))
(assert (forall ((x Int))
  (=> (and (C x) (= (mod x 2) 0)) (C (div x 2)))))
(assert (forall ((x Int))
  (=> (and (C x) (= (mod x 2) 1)) (C (+ (* 3 x) 1)))))
(assert (forall ((x Int))
  (=> (and (C x) (= x 21)) false)))

(check-sat)
