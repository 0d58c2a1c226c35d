; g = i ^ (i shifted right by 1): successive codes differ in one bit (i in 4 bits, wrapping), in the lowest one (wrong).
; Unsafe: from i = 1 to i = 2 bit 1 changes.
(set-logic HORN)

(declare-fun G ((_ BitVec 4) (_ BitVec 4)) Bool)

(assert (G #x0 #x0))
(assert (forall ((i (_ BitVec 4)) (g (_ BitVec 4)) (j (_ BitVec 4)))
  (=> (and (G i g) (= j (bvadd i #x1))) (G j (bvxor j (bvlshr j #x1))))))
(assert (forall ((i (_ BitVec 4)) (g (_ BitVec 4)) (j (_ BitVec 4)) (h (_ BitVec 4))
                 (d (_ BitVec 4)))
  (=> (and (G i g)
           (= j (bvadd i #x1))
           (= h (bvxor j (bvlshr j #x1)))
           (= d (bvxor g h))
           (or (= d #x0) (not (= d #x1))))
      false)))

(check-sat)
