; A loop with a predicate for each location: read a value, clamp it to 0..100, add it, exit when the sum is over 1000.
; assert at the exit: sum <= 1099
; Unsafe: 1000 + 100 is reached.
(set-logic HORN)

(declare-fun start () Bool)
(declare-fun read (Int) Bool)
(declare-fun clamp (Int Int) Bool)
(declare-fun add (Int Int) Bool)
(declare-fun done (Int) Bool)

(assert start)
(assert (forall ((s Int))
  (=> (and start (= s 0)) (read s))))
(assert (forall ((s Int) (v Int))
  (=> (and (read s) (<= s 1000)) (clamp s v))))
(assert (forall ((s Int) (v Int))
  (=> (and (clamp s v) (< v 0)) (add s 0))))
(assert (forall ((s Int) (v Int))
  (=> (and (clamp s v) (> v 100)) (add s 100))))
(assert (forall ((s Int) (v Int))
  (=> (and (clamp s v) (>= v 0) (<= v 100)) (add s v))))
(assert (forall ((s Int) (v Int) (s1 Int))
  (=> (and (add s v) (= s1 (+ s v))) (read s1))))
(assert (forall ((s Int))
  (=> (and (read s) (> s 1000)) (done s))))
(assert (forall ((s Int))
  (=> (and (done s) (> s 1099)) false)))

(check-sat)
