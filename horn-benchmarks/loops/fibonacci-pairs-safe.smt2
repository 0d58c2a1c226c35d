; (a, b) = (0, 1); while (nd()) (a, b) = (b, a + b); assert b >= a or a = 1
; Safe: a >= 0 and b >= 1, and b >= a after each round.
(set-logic HORN)

(declare-fun F (Int Int) Bool)

(assert (F 0 1))
(assert (forall ((a Int) (b Int))
  (=> (F a b) (F b (+ a b)))))
(assert (forall ((a Int) (b Int))
  (=> (and (F a b) (not (or (>= b a) (= a 1)))) false)))

(check-sat)
