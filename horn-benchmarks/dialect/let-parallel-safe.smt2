; Syntax: the bindings of one let are parallel and may shadow a bound variable: (let ((x y) (y x)) ...) swaps.
; Safe: P (1, 2) yields (2, 1) only, so the first argument is never 3.
(set-logic HORN)
(declare-fun P (Int Int) Bool)
(assert (P 1 2))
(assert (forall ((x Int) (y Int))
  (=> (P x y) (let ((x y) (y x)) (P x y)))))
(assert (forall ((x Int) (y Int))
  (=> (and (P x y) (= x 3) (let ((x (+ x 1))) (= x 4))) false)))
(check-sat)
