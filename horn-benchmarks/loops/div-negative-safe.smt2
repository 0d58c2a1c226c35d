; Division by a negative constant: q = n div -3 means n = -3q + r with 0 <= r < 3.
; n starts above 2 and grows; assert n div -3 <= 0
; Safe: n > 2 gives n div -3 <= 0.
(set-logic HORN)

(declare-fun In (Int) Bool)
(declare-fun Out (Int Int) Bool)

(assert (forall ((n Int))
  (=> (> n 2) (In n))))
(assert (forall ((n Int))
  (=> (In n) (In (+ n 1)))))
(assert (forall ((n Int))
  (=> (In n) (Out n (div n (- 3))))))
(assert (forall ((n Int) (q Int))
  (=> (and (Out n q) (> q 0)) false)))

(check-sat)
