; A car of speed at most 2 (Halbwachs' example): each second t++, v = 0; each metre d++, v++ while v < 3.
; assert d <= 2*t + 2
; Unsafe: with v up to 3 the first second already allows d = 3.
(set-logic HORN)

(declare-fun Car (Int Int Int) Bool)

(assert (Car 0 0 0))
(assert (forall ((t Int) (v Int) (d Int))
  (=> (Car t v d) (Car (+ t 1) 0 d))))
(assert (forall ((t Int) (v Int) (d Int))
  (=> (and (Car t v d) (< v 3)) (Car t (+ v 1) (+ d 1)))))
(assert (forall ((t Int) (v Int) (d Int))
  (=> (and (Car t v d) (> d (+ (* 2 t) 2))) false)))

(check-sat)
