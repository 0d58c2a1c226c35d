; A saturating counter: x = (x < 15 ? x + 1 : x); assert 0 <= x <= 15
; Safe: x <= 15.
(set-logic HORN)

(declare-fun Sat (Int) Bool)

(assert (Sat 0))
(assert (forall ((x Int))
  (=> (Sat x) (Sat (ite (< x 15) (+ x 1) x)))))
(assert (forall ((x Int))
  (=> (and (Sat x) (not (and (<= 0 x) (<= x 15)))) false)))

(check-sat)
