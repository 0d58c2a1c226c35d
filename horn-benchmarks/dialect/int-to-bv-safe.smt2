; Syntax: int_to_bv and ubv_to_int, the names of SMT-LIB 2.7.
; Safe: converting there and back keeps values below 256.
(set-logic HORN)
(declare-fun P (Int (_ BitVec 8)) Bool)
(assert (P 128 ((_ int_to_bv 8) 128)))
(assert (forall ((n Int) (b (_ BitVec 8))) (=> (and (P n b) (< n 192)) (P (+ n 64) (bvadd b #x40)))))
(assert (forall ((n Int) (b (_ BitVec 8))) (=> (and (P n b) (not (= (ubv_to_int b) n))) false)))
(check-sat)
