; to_int rounds down: x grows by 1/2; n = to_int(x); assert n <= x < n + 1
; Safe: the definition of to_int.
(set-logic HORN)

(declare-fun X (Real) Bool)
(declare-fun N (Real Int) Bool)

(assert (X 0.0))
(assert (forall ((x Real))
  (=> (X x) (X (+ x 0.5)))))
(assert (forall ((x Real))
  (=> (X x) (N x (to_int x)))))
(assert (forall ((x Real) (n Int))
  (=> (and (N x n) (not (and (<= (to_real n) x) (< x (+ (to_real n) 1.0))))) false)))

(check-sat)
