; A constant array of zeros into which zeros are written at any index; assert any cell is 0; cell 9 gets a one.
; Unsafe: cell 9.
(set-logic HORN)

(declare-fun A ((Array Int Int)) Bool)

(assert (A ((as const (Array Int Int)) 0)))
(assert (forall ((a (Array Int Int)) (i Int))
  (=> (A a) (A (store a i (ite (= i 9) 1 0))))))
(assert (forall ((a (Array Int Int)) (k Int))
  (=> (and (A a) (not (= (select a k) 0))) false)))

(check-sat)
