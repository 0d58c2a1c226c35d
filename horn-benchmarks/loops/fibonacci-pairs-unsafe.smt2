; (a, b) = (0, 1); while (nd()) (a, b) = (b, a + b); assert a != 55
; Unsafe: 55 is the tenth Fibonacci number.
(set-logic HORN)

(declare-fun F (Int Int) Bool)

(assert (F 0 1))
(assert (forall ((a Int) (b Int))
  (=> (F a b) (F b (+ a b)))))
(assert (forall ((a Int) (b Int))
  (=> (and (F a b) (= a 55)) false)))

(check-sat)
