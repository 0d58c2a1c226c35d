; Moves of the towers of Hanoi: H(n) = 2 H(n-1) + 1. assert H(n) >= n
; Safe: by induction.
(set-logic HORN)

(declare-fun H (Int Int) Bool)

(assert (H 0 0))
(assert (forall ((n Int) (a Int) (b Int))
  (=> (and (> n 0) (H (- n 1) a) (H (- n 1) b)) (H n (+ a 1 b)))))
(assert (forall ((n Int) (r Int))
  (=> (and (H n r) (< r n)) false)))

(check-sat)
