; A constant array of zeros into which zeros are written at any index; assert any cell is 0.
; Safe: all cells are zero (or: the array equals the constant array, by extensionality).
(set-logic HORN)

(declare-fun A ((Array Int Int)) Bool)

(assert (A ((as const (Array Int Int)) 0)))
(assert (forall ((a (Array Int Int)) (i Int))
  (=> (A a) (A (store a i 0)))))
(assert (forall ((a (Array Int Int)) (k Int))
  (=> (and (A a) (not (= (select a k) 0))) false)))

(check-sat)
