; Two clocks reset in turn, a and b; delay only while a <= 3 and b <= 5; resetting a needs a >= 2. assert b - a <= 2
; Unsafe: resetting a at 3 gives b - a = 3.
(set-logic HORN)

(declare-fun K (Real Real) Bool)

(assert (forall ((a Real) (b Real))
  (=> (and (= a 0.0) (= b 0.0)) (K a b))))
(assert (forall ((a Real) (b Real) (a1 Real) (b1 Real) (d Real))
  (=> (and (K a b) (>= d 0.0) (= a1 (+ a d)) (= b1 (+ b d)) (<= a1 3.0) (<= b1 5.0)) (K a1 b1))))
(assert (forall ((a Real) (b Real) (a1 Real))
  (=> (and (K a b) (>= a 2.0) (= a1 0.0)) (K a1 b))))
(assert (forall ((a Real) (b Real) (b1 Real))
  (=> (and (K a b) (>= b 4.0) (= b1 0.0)) (K a b1))))
(assert (forall ((a Real) (b Real))
  (=> (and (K a b) (> (- b a) 2.0)) false)))

(check-sat)
