; A ring buffer of 4 cells: writes at w mod 4, reads at r mod 4, r <= w <= r + 4; one written value is
; remembered while it is unread; assert that it is still in place.
; Safe: at most 4 values are unread, so the cell of the tracked one is not reused.
; Q buffer read write tracked-position tracked-value
(set-logic HORN)

(declare-fun Q ((Array Int Int) Int Int Int Int) Bool)

(assert (forall ((b (Array Int Int)) (p Int) (v Int))
  (Q b 0 0 (- 1) v)))
(assert (forall ((b (Array Int Int)) (r Int) (w Int) (p Int) (v Int) (x Int))
  (=> (and (Q b r w p v) (< w (+ r 4))) (Q (store b (mod w 4) x) r (+ w 1) p v))))
(assert (forall ((b (Array Int Int)) (r Int) (w Int) (p Int) (v Int) (x Int))
  (=> (and (Q b r w p v) (< p r) (< w (+ r 4))) (Q (store b (mod w 4) x) r (+ w 1) w x))))
(assert (forall ((b (Array Int Int)) (r Int) (w Int) (p Int) (v Int))
  (=> (and (Q b r w p v) (< r w)) (Q b (+ r 1) w p v))))
(assert (forall ((b (Array Int Int)) (r Int) (w Int) (p Int) (v Int))
  (=> (and (Q b r w p v) (<= r p) (not (= (select b (mod p 4)) v))) false)))

(check-sat)
