; x = 0; y = 7; while (nd()) { k = nd(); x += k; y += 3 * k; } (32 bits, modulo 2^32) assert y == 3 * x + 7
; Safe: the equation is kept, however often the sums wrap.
(set-logic HORN)

(declare-fun L ((_ BitVec 32) (_ BitVec 32)) Bool)

(assert (forall ((y (_ BitVec 32))) (=> (= y #x00000007) (L #x00000000 y))))
(assert (forall ((x (_ BitVec 32)) (y (_ BitVec 32)) (k (_ BitVec 32)) (u (_ BitVec 32)) (v (_ BitVec 32)))
  (=> (and (L x y) (= u (bvadd x k)) (= v (bvadd y (bvmul #x00000003 k)))) (L u v))))
(assert (forall ((x (_ BitVec 32)) (y (_ BitVec 32)))
  (=> (and (L x y) (not (= y (bvadd (bvmul #x00000003 x) #x00000007)))) false)))

(check-sat)
