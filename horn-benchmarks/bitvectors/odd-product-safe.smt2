; x = 3 * x modulo 256 from 1: always odd.
; Safe: products of odd numbers are odd, also modulo 256.
(set-logic HORN)

(declare-fun O ((_ BitVec 8)) Bool)

(assert (O #x01))
(assert (forall ((x (_ BitVec 8)) (y (_ BitVec 8)))
  (=> (and (O x) (= y (bvmul #x03 x))) (O y))))
(assert (forall ((x (_ BitVec 8)))
  (=> (and (O x) (= ((_ extract 0 0) x) #b0)) false)))

(check-sat)
