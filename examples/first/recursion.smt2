; int triangle(int n) { return n <= 0 ? 0 : n + triangle(n - 1); }
; T(n, r) holds if a call with n returns r. assert(triangle(n) >= n)
(set-logic HORN)
(declare-fun T (Int Int) Bool)

(assert (forall ((n Int))
  (=> (<= n 0) (T n 0))))
(assert (forall ((n Int) (r Int))
  (=> (and (> n 0) (T (- n 1) r)) (T n (+ n r)))))
(assert (forall ((n Int) (r Int))
  (=> (and (T n r) (< r n)) false)))

(check-sat)
