; pop(x) = x = 0 ? 0 : (x & 1) + pop(x / 2), 4 bits; assert pop(x) <= 3
; Unsafe: pop(15) = 4.
(set-logic HORN)

(declare-fun Pop ((_ BitVec 4) (_ BitVec 4)) Bool)

(assert (Pop #x0 #x0))
(assert (forall ((x (_ BitVec 4)) (n (_ BitVec 4)))
  (=> (and (not (= x #x0)) (Pop (bvlshr x #x1) n)) (Pop x (bvadd n (bvand x #x1))))))
(assert (forall ((x (_ BitVec 4)) (n (_ BitVec 4)))
  (=> (and (Pop x n) (bvugt n #x3)) false)))

(check-sat)
