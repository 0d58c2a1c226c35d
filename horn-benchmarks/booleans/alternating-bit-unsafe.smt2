; The alternating-bit protocol with Boolean sequence bits and one-place lossy channels:
; sender bit s, message bit m (present mp), receiver bit r, acknowledgement bit k (present kp), d counts the difference
; between the numbers of sent and delivered messages; assert 0 <= d <= 1.
; Unsafe: the receiver does not compare the bit.
(set-logic HORN)

(declare-fun A (Bool Bool Bool Bool Bool Bool Int) Bool)

; s m mp r k kp d; the sender has a new message with bit s under way
(assert (A false false false false false false 1))
(assert (forall ((s Bool) (m Bool) (mp Bool) (r Bool) (k Bool) (kp Bool) (d Int))
  (=> (A s m mp r k kp d) (A s s true r k kp d))))
(assert (forall ((s Bool) (m Bool) (mp Bool) (r Bool) (k Bool) (kp Bool) (d Int))
  (=> (A s m mp r k kp d) (A s m false r k false d))))
(assert (forall ((s Bool) (m Bool) (r Bool) (k Bool) (kp Bool) (d Int))
  (=> (A s m true r k kp d) (A s m false (not r) m true (- d 1)))))
(assert (forall ((s Bool) (m Bool) (r Bool) (k Bool) (kp Bool) (d Int))
  (=> (and (A s m true r k kp d) (not (= m r))) (A s m false r m true d))))
(assert (forall ((s Bool) (m Bool) (mp Bool) (r Bool) (k Bool) (d Int))
  (=> (and (A s m mp r k true d) (= k s)) (A (not s) m mp r k false (+ d 1)))))
(assert (forall ((s Bool) (m Bool) (mp Bool) (r Bool) (k Bool) (kp Bool) (d Int))
  (=> (and (A s m mp r k kp d) (or (< d 0) (> d 1))) false)))

(check-sat)
