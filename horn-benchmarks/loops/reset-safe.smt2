; A counter with reset: c++ while c < 5, reset to 0 at any time; r counts resets. assert 0 <= c <= 5 and r >= 0
; Safe: 0 <= c <= 5 and r >= 0.
(set-logic HORN)

(declare-fun R (Int Int) Bool)

(assert (R 0 0))
(assert (forall ((c Int) (r Int))
  (=> (and (R c r) (< c 5)) (R (+ c 1) r))))
(assert (forall ((c Int) (r Int))
  (=> (R c r) (R 0 (+ r 1)))))
(assert (forall ((c Int) (r Int))
  (=> (and (R c r) (not (and (<= 0 c) (<= c 5) (>= r 0)))) false)))

(check-sat)
