; McCarthy's function, a weaker property: M(n) >= n - 10 (and >= 91).
; Safe: both bounds are inductive together.
(set-logic HORN)

(declare-fun M (Int Int) Bool)

(assert (forall ((n Int))
  (=> (> n 100) (M n (- n 10)))))
(assert (forall ((n Int) (r Int) (t Int))
  (=> (and (<= n 100) (M (+ n 11) t) (M t r)) (M n r))))
(assert (forall ((n Int) (r Int))
  (=> (and (M n r) (or (< r (- n 10)) (< r 91))) false)))

(check-sat)
