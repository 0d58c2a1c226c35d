; Syntax: let inside of the body and inside of the head.
; Safe: x = 2y.
(set-logic HORN)
(declare-fun P (Int Int) Bool)
(assert (P 0 0))
(assert (forall ((x Int) (y Int))
  (=> (let ((t (* 2 y))) (and (P x y) (= x t)))
      (let ((u (+ y 1))) (P (* 2 u) u)))))
(assert (forall ((x Int) (y Int))
  (=> (and (P x y) (let ((d (- x (* 2 y)))) (not (= d 0)))) false)))
(check-sat)
