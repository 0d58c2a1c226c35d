; Syntax: bound variables that share a predicate's name; the innermost binding counts. One variable is named like a sort.
; Safe: Inv holds of even numbers.
(set-logic HORN)
(declare-fun Inv (Int) Bool)
(declare-fun x (Int) Bool)
(assert (forall ((Inv Int)) (=> (= Inv 0) (x Inv))))
(assert (forall ((y Int)) (=> (x y) (Inv y))))
(assert (forall ((Int Int)) (=> (Inv Int) (x (+ Int 2)))))
(assert (forall ((y Int)) (=> (and (x y) (= y 5)) false)))
(check-sat)
