; Mutual recursion: even(n) = n = 0 || odd(n-1), odd(n) = n != 0 && even(n-1).
; assert no n is both, nor is 7 odd.
; Unsafe: odd(7).
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
(assert (forall ((n Int))
  (=> (and (Odd n) (= n 7)) false)))

(check-sat)
