; Syntax: the bindings of one let are parallel and may shadow a bound variable: (let ((x y) (y x)) ...) swaps.
; Unsafe: (2, 1) is derived.

(set-logic HORN)
(declare-fun P (Int Int) Bool)
(assert (P 1 2))
(assert (forall ((x Int) (y Int))
  (=> (P x y) (let ((x y) (y x)) (P x y)))))
(assert (forall ((x Int) (y Int))
  (=> (and (P x y) (= x 2) (let ((x (+ x 1))) (= x 3))) false)))
(check-sat)
