; f(n) = n <= 0 ? n : 1 + f(f(n-1)) is the identity. assert f(n) <= n
; Safe: f(n) = n, and f(n) <= n is inductive with f(f(n-1)) <= n - 1.
(set-logic HORN)

(declare-fun F (Int Int) Bool)

(assert (forall ((n Int))
  (=> (<= n 0) (F n n))))
(assert (forall ((n Int) (t Int) (r Int))
  (=> (and (> n 0) (F (- n 1) t) (F t r)) (F n (+ 1 r)))))
(assert (forall ((n Int) (r Int))
  (=> (and (F n r) (> r n)) false)))

(check-sat)
