; A one-hot ring of 4 bits, rotated left; assert that exactly one bit is set (x & (x - 1) = 0, x != 0).
; Unsafe: the rotation ors the old state in when bit 2 is set.
(set-logic HORN)

(declare-fun H ((_ BitVec 4)) Bool)

(assert (H #x1))
(assert (forall ((x (_ BitVec 4)) (y (_ BitVec 4)))
  (=> (and (H x) (= y ((_ rotate_left 1) x))) (H (ite (= ((_ extract 2 2) x) #b1) (bvor x y) y)))))
(assert (forall ((x (_ BitVec 4)))
  (=> (and (H x) (or (= x #x0) (not (= (bvand x (bvsub x #x1)) #x0)))) false)))

(check-sat)
