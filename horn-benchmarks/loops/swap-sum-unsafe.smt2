; a + b is kept by swaps and by moving one unit; assert a + b = 7
; Unsafe: moving a unit from a negative b forgets to lower b (b < -1).
(set-logic HORN)

(declare-fun P (Int Int) Bool)

(assert (forall ((a Int) (b Int))
  (=> (and (= a 3) (= b 4)) (P a b))))
(assert (forall ((a Int) (b Int))
  (=> (P a b) (P b a))))
(assert (forall ((a Int) (b Int))
  (=> (P a b) (P (+ a 1) (ite (< b (- 1)) b (- b 1))))))
(assert (forall ((a Int) (b Int))
  (=> (and (P a b) (not (= (+ a b) 7))) false)))

(check-sat)
