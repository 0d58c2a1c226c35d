; A saturating counter: x = 1 + (x < 15 ? x : x + 1); assert 0 <= x <= 16
; Unsafe: nothing saturates, 17 is reached.
(set-logic HORN)

(declare-fun Sat (Int) Bool)

(assert (Sat 0))
(assert (forall ((x Int))
  (=> (Sat x) (Sat (+ 1 (ite (< x 15) x (+ x 1)))))))
(assert (forall ((x Int))
  (=> (and (Sat x) (not (and (<= 0 x) (<= x 16)))) false)))

(check-sat)
