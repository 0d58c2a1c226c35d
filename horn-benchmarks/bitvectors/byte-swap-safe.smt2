; Swapping the bytes of a 16-bit word twice is the identity.
; Safe: after an even number of swaps w = w0.
(set-logic HORN)

(declare-fun B (Bool (_ BitVec 16) (_ BitVec 16)) Bool)

(assert (forall ((w (_ BitVec 16)))
  (B false w w)))
(assert (forall ((odd Bool) (u (_ BitVec 16)) (w (_ BitVec 16)))
  (=> (B odd u w) (B (not odd) u (concat ((_ extract 7 0) w) ((_ extract 15 8) w))))))
(assert (forall ((odd Bool) (u (_ BitVec 16)) (w (_ BitVec 16)))
  (=> (and (B odd u w) (not odd) (not (= u w))) false)))

(check-sat)
