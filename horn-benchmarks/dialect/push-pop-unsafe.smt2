; Syntax: push and pop; what was asserted and declared between them is gone.
; Unsafe: another one stays.

(set-logic HORN)
(declare-fun P (Int) Bool)
(assert (P 0))
(push 1)
(declare-fun Q (Int) Bool)
(assert (forall ((x Int)) (=> (P x) (Q x))))
(assert (forall ((x Int)) (=> (Q x) false)))
(pop 1)
(declare-fun Q (Int Int) Bool)
(assert (forall ((x Int)) (=> (P x) (Q x x))))
(push 1)
(assert (forall ((x Int) (y Int)) (=> (and (Q x y) (= x y)) false)))
(check-sat)
(pop 1)
