; An Int counter and a Real account: each round i++, x grows by 0.25; assert 4x = i, compared with to_real; every fifth round adds 0.3.
; Unsafe: the fifth round.
(set-logic HORN)

(declare-fun M (Int Real) Bool)

(assert (M 0 0.0))
(assert (forall ((i Int) (x Real) (x1 Real))
  (=> (and (M i x) (= x1 (+ x (ite (= (mod i 5) 4) 0.3 0.25)))) (M (+ i 1) x1))))
(assert (forall ((i Int) (x Real))
  (=> (and (M i x) (not (= (* 4.0 x) (to_real i)))) false)))

(check-sat)
