; Heating adds 1/2 to 3/2 degrees a step while on, cooling takes 1 to 2 away while off; switched on below 18, off above 22.
; assert 16 <= t <= 23
; Unsafe: 22 + 3/2 > 23.
(set-logic HORN)

(declare-fun H (Bool Real) Bool)

(assert (forall ((t Real))
  (=> (and (>= t 18.0) (<= t 22.0)) (H true t))))
(assert (forall ((t Real) (t1 Real))
  (=> (and (H true t) (<= t 22.0) (>= t1 (+ t 0.5)) (<= t1 (+ t 1.5))) (H true t1))))
(assert (forall ((t Real))
  (=> (and (H true t) (> t 22.0)) (H false t))))
(assert (forall ((t Real) (t1 Real))
  (=> (and (H false t) (>= t 18.0) (<= t1 (- t 1.0)) (>= t1 (- t 2.0))) (H false t1))))
(assert (forall ((t Real))
  (=> (and (H false t) (< t 18.0)) (H true t))))
(assert (forall ((on Bool) (t Real))
  (=> (and (H on t) (or (< t 16.0) (> t 23.0))) false)))

(check-sat)
