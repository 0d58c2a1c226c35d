; x = 3 * x modulo 256 from 1: always odd, it reaches 81.
; Unsafe: 1, 3, 9, 27, 81.
(set-logic HORN)

(declare-fun O ((_ BitVec 8)) Bool)

(assert (O #x01))
(assert (forall ((x (_ BitVec 8)) (y (_ BitVec 8)))
  (=> (and (O x) (= y (bvmul #x03 x))) (O y))))
(assert (forall ((x (_ BitVec 8)))
  (=> (and (O x) (= x #x51)) false)))

(check-sat)
