; A tank that fills at rate 2 up to level 8 and then drains at rate 1 down to level 2; time steps of length d in (0, 1].
; assert -1 <= level <= 10 (the valve may move one step late)
; Safe: filling starts a step below 8 and adds at most 2; emptying starts a step above 2 and takes at most 1.
(set-logic HORN)

(declare-fun Fill (Real) Bool)
(declare-fun Drain (Real) Bool)

(assert (forall ((l Real))
  (=> (= l 5.0) (Fill l))))
(assert (forall ((l Real) (l1 Real) (d Real))
  (=> (and (Fill l) (< l 8.0) (> d 0.0) (<= d 1.0) (= l1 (+ l (* 2.0 d)))) (Fill l1))))
(assert (forall ((l Real))
  (=> (and (Fill l) (>= l 8.0)) (Drain l))))
(assert (forall ((l Real) (l1 Real) (d Real))
  (=> (and (Drain l) (> l 2.0) (> d 0.0) (<= d 1.0) (= l1 (- l d))) (Drain l1))))
(assert (forall ((l Real))
  (=> (and (Drain l) (<= l 2.0)) (Fill l))))
(assert (forall ((l Real))
  (=> (and (Fill l) (or (< l (- 1.0)) (> l 10.0))) false)))
(assert (forall ((l Real))
  (=> (and (Drain l) (or (< l (- 1.0)) (> l 10.0))) false)))

(check-sat)
