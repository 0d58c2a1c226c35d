; fib(n) = n < 2 ? n : fib(n-1) + fib(n-2). assert fib(n) >= n - 1
; Safe: with fib(n) >= 1 for n >= 1.
(set-logic HORN)

(declare-fun Fib (Int Int) Bool)

(assert (forall ((n Int) (r Int))
  (=> (and (>= n 0) (< n 2) (= r n)) (Fib n r))))
(assert (forall ((n Int) (a Int) (b Int))
  (=> (and (>= n 2) (Fib (- n 1) a) (Fib (- n 2) b)) (Fib n (+ a b)))))
(assert (forall ((n Int) (r Int))
  (=> (and (Fib n r) (or (< r (- n 1)) false)) false)))

(check-sat)
