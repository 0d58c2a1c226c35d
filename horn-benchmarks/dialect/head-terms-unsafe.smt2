; Syntax: arithmetic, ite and Boolean terms in heads.
; Unsafe: the flag says x = 2.

(set-logic HORN)
(declare-fun S (Int Bool) Bool)
(assert (forall ((x Int)) (=> (= (+ x x) 0) (S (- x x) (= x 3)))))
(assert (forall ((x Int) (b Bool)) (=> (S x b) (S (ite b 0 (+ x 1)) (and (not b) (= (+ x 1) 2))))))
(assert (forall ((x Int) (b Bool)) (=> (and (S x b) (not (= b (= x 3)))) false)))
(check-sat)
