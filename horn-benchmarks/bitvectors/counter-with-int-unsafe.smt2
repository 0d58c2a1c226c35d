; An Int counter and its 3-bit copy; assert that the copy is never 0 when the counter is 8.
; Unsafe: the copy wraps around at 8.
(set-logic HORN)

(declare-fun K (Int (_ BitVec 3)) Bool)

(assert (K 0 #b000))
(assert (forall ((n Int) (b (_ BitVec 3)))
  (=> (and (K n b) (>= n 0)) (K (+ n 1) (bvadd b #b001)))))
(assert (forall ((n Int) (b (_ BitVec 3)))
  (=> (and (K n b) (= n 8) (= b #b000)) false)))

(check-sat)
