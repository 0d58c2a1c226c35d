; An Int counter and its 3-bit copy; assert that the copy is 0 whenever the counter is 0.
; Safe: the copies start together and the counter only grows.
(set-logic HORN)

(declare-fun K (Int (_ BitVec 3)) Bool)

(assert (K 0 #b000))
(assert (forall ((n Int) (b (_ BitVec 3)))
  (=> (and (K n b) (>= n 0)) (K (+ n 1) (bvadd b #b001)))))
(assert (forall ((n Int) (b (_ BitVec 3)))
  (=> (and (K n b) (= n 0) (not (= b #b000))) false)))

(check-sat)
