; Syntax: bit-vector literals in all notations: #b, #x in both cases, (_ bvN w).
; Unsafe: one of them is not.

(set-logic HORN)
(declare-fun P ((_ BitVec 8)) Bool)
(assert (P #xaB))
(assert (forall ((x (_ BitVec 8))) (=> (P x) (P (bvxor x #b00000000)))))
(assert (=> (P (_ bv171 8)) false))
(assert (forall ((x (_ BitVec 8))) (=> (and (P x) (distinct x #b10101011 )) false)))
(assert (forall ((x (_ BitVec 8))) (=> (and (P x) (distinct x (_ bv171 8) #xAC)) (=> (distinct x #xAb) false))))
(check-sat)
