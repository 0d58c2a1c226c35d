; Syntax: int2bv and bv2nat, the old names.
; Safe: n mod 16 is what the 4-bit copy holds.
(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (P 0))
(assert (forall ((n Int)) (=> (and (P n) (< n 20)) (P (+ n 5)))))
(assert (forall ((n Int)) (=> (and (P n) (not (= (bv2nat ((_ int2bv 4) n)) (mod n 16)))) false)))
(check-sat)
