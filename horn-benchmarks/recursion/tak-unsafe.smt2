; Takeuchi's function: tak(x,y,z) = x <= y ? y : tak(tak(x-1,y,z), tak(y-1,z,x), tak(z-1,x,y)).
; assert tak(x,y,z) <= max(x,y,z) - 1
; Unsafe: tak(0,0,0) = 0.
(set-logic HORN)

(declare-fun Tak (Int Int Int Int) Bool)

(assert (forall ((x Int) (y Int) (z Int))
  (=> (<= x y) (Tak x y z y))))
(assert (forall ((x Int) (y Int) (z Int) (a Int) (b Int) (c Int) (r Int))
  (=> (and (> x y) (Tak (- x 1) y z a) (Tak (- y 1) z x b) (Tak (- z 1) x y c) (Tak a b c r))
      (Tak x y z r))))
(assert (forall ((x Int) (y Int) (z Int) (r Int) (m Int))
  (=> (and (Tak x y z r) (= m (ite (>= x y) (ite (>= x z) x z) (ite (>= y z) y z))) (> r (- m 1)))
      false)))

(check-sat)
