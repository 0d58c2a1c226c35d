; x bounces between 0 and 10: d = 1 upwards, d = -1 downwards.
; Safe: 0 <= x <= 10.
(set-logic HORN)

(declare-fun Ball (Int Int) Bool)

(assert (Ball 0 1))
(assert (forall ((x Int) (d Int) (d1 Int))
  (=> (and (Ball x d)
           (= d1 (ite (and (= d 1) (>= x 10)) (- 1) (ite (and (= d (- 1)) (<= x 0)) 1 d))))
      (Ball (+ x d1) d1))))
(assert (forall ((x Int) (d Int))
  (=> (and (Ball x d) (or (< x 0) (> x 10))) false)))

(check-sat)
