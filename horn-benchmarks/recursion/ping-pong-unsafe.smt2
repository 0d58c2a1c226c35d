; Mutual recursion with an accumulator: ping(n, a) calls pong(n-1, a+1), pong(n, a) calls ping(n-1, a); result a at n = 0.
; assert the result of ping(n, 0) is n.
; Unsafe: pong does not count (n = 2).
(set-logic HORN)

(declare-fun Ping (Int Int Int) Bool)
(declare-fun Pong (Int Int Int) Bool)

(assert (forall ((a Int))
  (Ping 0 a a)))
(assert (forall ((a Int))
  (Pong 0 a a)))
(assert (forall ((n Int) (a Int) (r Int))
  (=> (and (> n 0) (Pong (- n 1) (+ a 1) r)) (Ping n a r))))
(assert (forall ((n Int) (a Int) (r Int))
  (=> (and (> n 0) (Ping (- n 1) a r)) (Pong n a r))))
(assert (forall ((n Int) (r Int))
  (=> (and (Ping n 0 r) (not (= r n))) false)))

(check-sat)
