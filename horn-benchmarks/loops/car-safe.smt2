; A car of speed at most 2 (Halbwachs' example): each second t++, v = 0; each metre d++, v++ while v < 2.
; assert d <= 2*t + 2
; Safe: v <= 2 and d <= 2t + v.
(set-logic HORN)

(declare-fun Car (Int Int Int) Bool)

(assert (Car 0 0 0))
(assert (forall ((t Int) (v Int) (d Int))
  (=> (Car t v d) (Car (+ t 1) 0 d))))
(assert (forall ((t Int) (v Int) (d Int))
  (=> (and (Car t v d) (< v 2)) (Car t (+ v 1) (+ d 1)))))
(assert (forall ((t Int) (v Int) (d Int))
  (=> (and (Car t v d) (> d (+ (* 2 t) 2))) false)))

(check-sat)
