; Syntax: int2bv and bv2nat, the old names.
; Unsafe: the copy has 3 bits.

(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (P 0))
(assert (forall ((n Int)) (=> (and (P n) (< n 20)) (P (+ n 5)))))
(assert (forall ((n Int)) (=> (and (P n) (not (= (bv2nat ((_ int2bv 3) n)) (mod n 16)))) false)))
(check-sat)
