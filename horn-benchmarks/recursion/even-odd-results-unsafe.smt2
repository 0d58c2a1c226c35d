; Even and odd by mutual recursion with Boolean results: E(n, b), O(n, b), n >= 0. assert E(n) and E(n + 1) agree at n = 3
; Unsafe: E(3) is false, E(4) is true.
(set-logic HORN)

(declare-fun E (Int Bool) Bool)
(declare-fun O (Int Bool) Bool)

(assert (E 0 true))
(assert (O 0 false))
(assert (forall ((n Int) (b Bool))
  (=> (and (> n 0) (O (- n 1) b)) (E n b))))
(assert (forall ((n Int) (b Bool))
  (=> (and (> n 0) (E (- n 1) b)) (O n b))))
(assert (forall ((n Int) (b Bool) (c Bool))
  (=> (and (E n b) (E (+ n 1) c) (not (= b c)) (= n 3)) false)))

(check-sat)
