; a ^= b; b ^= a; a ^= b; swaps; after a round (a, b) = (b0, a0), but the third step uses | instead of ^.
; Unsafe: or is not xor (a = b = 1).
(set-logic HORN)

(declare-fun P0 ((_ BitVec 16) (_ BitVec 16) (_ BitVec 16) (_ BitVec 16)) Bool)
(declare-fun P1 ((_ BitVec 16) (_ BitVec 16) (_ BitVec 16) (_ BitVec 16)) Bool)
(declare-fun P2 ((_ BitVec 16) (_ BitVec 16) (_ BitVec 16) (_ BitVec 16)) Bool)
(declare-fun P3 ((_ BitVec 16) (_ BitVec 16) (_ BitVec 16) (_ BitVec 16)) Bool)

(assert (forall ((a (_ BitVec 16)) (b (_ BitVec 16)))
  (P0 a b a b)))
(assert (forall ((u (_ BitVec 16)) (v (_ BitVec 16)) (a (_ BitVec 16)) (b (_ BitVec 16)))
  (=> (P0 u v a b) (P1 u v (bvxor a b) b))))
(assert (forall ((u (_ BitVec 16)) (v (_ BitVec 16)) (a (_ BitVec 16)) (b (_ BitVec 16)))
  (=> (P1 u v a b) (P2 u v a (bvxor a b)))))
(assert (forall ((u (_ BitVec 16)) (v (_ BitVec 16)) (a (_ BitVec 16)) (b (_ BitVec 16)))
  (=> (P2 u v a b) (P3 u v (bvor a b) b))))
(assert (forall ((u (_ BitVec 16)) (v (_ BitVec 16)) (a (_ BitVec 16)) (b (_ BitVec 16)))
  (=> (and (P3 u v a b) (not (and (= a v) (= b u)))) false)))

(check-sat)
