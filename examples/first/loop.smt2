; The loop of loop.c: Head holds of the states at its head.
(set-logic HORN)
(declare-fun Head (Int Int Int) Bool)

; i = 0, sum = 0
(assert (forall ((n Int) (i Int) (sum Int))
  (=> (and (= i 0) (= sum 0)) (Head n i sum))))

; while (i < n) { i = i + 1; sum = sum + 2; }
(assert (forall ((n Int) (i Int) (sum Int))
  (=> (and (Head n i sum) (< i n)) (Head n (+ i 1) (+ sum 2)))))

; if (n >= 0) assert(sum == 2 * n)
(assert (forall ((n Int) (i Int) (sum Int))
  (=> (and (Head n i sum) (>= i n) (>= n 0) (not (= sum (* 2 n)))) false)))

(check-sat)
