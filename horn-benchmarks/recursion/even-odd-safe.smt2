; Mutual recursion: even(n) = n = 0 || odd(n-1), odd(n) = n != 0 && even(n-1).
; assert no n is both.
; Safe: even holds of even numbers only, odd of odd ones.
(set-logic HORN)

(declare-fun Even (Int) Bool)
(declare-fun Odd (Int) Bool)

(assert (Even 0))
(assert (forall ((n Int))
  (=> (Even n) (Odd (+ n 1)))))
(assert (forall ((n Int))
  (=> (Odd n) (Even (+ n 1)))))
(assert (forall ((n Int))
  (=> (and (Even n) (Odd n)) false)))

(check-sat)
