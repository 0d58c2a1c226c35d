; Two 64-bit words changed in the same way stay equal, unless one of them is negated at a rare value.
; Unsafe: at u = 3 the second word is complemented.
(set-logic HORN)

(declare-fun E ((_ BitVec 64) (_ BitVec 64)) Bool)

(assert (E (_ bv0 64) (_ bv0 64)))
(assert (forall ((u (_ BitVec 64)) (v (_ BitVec 64)))
  (=> (E u v) (E (bvadd u (_ bv1 64)) (ite (= u (_ bv3 64)) (bvnot v) (bvadd v (_ bv1 64)))))))
(assert (forall ((u (_ BitVec 64)) (v (_ BitVec 64)))
  (=> (E u v) (E (bvmul u (_ bv3 64)) (bvmul v (_ bv3 64))))))
(assert (forall ((u (_ BitVec 64)) (v (_ BitVec 64)))
  (=> (and (E u v) (distinct u v)) false)))

(check-sat)
