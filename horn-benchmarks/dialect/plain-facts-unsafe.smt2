; Syntax: ground facts, facts with a quantifier and no body, closed clauses without a quantifier.
; Unsafe: go is a fact here.

(set-logic HORN)
(declare-fun go () Bool)
(declare-fun stop () Bool)
(declare-fun E (Int Int) Bool)
(assert (E 1 2))
(assert (E 2 3))
(assert (forall ((x Int)) (E x x)))
(assert (=> go stop))
(assert (=> (and (E 1 2) (E 2 3)) go))
(assert (forall ((x Int) (y Int) (z Int)) (=> (and (E x y) (E y z)) (E x z))))
(assert (=> (and go stop (E 1 3)) false))
(check-sat)
