; Syntax: a variable repeated in the head and in a body atom.
; Unsafe: a second clause makes them differ.

(set-logic HORN)
(declare-fun Eq (Int Int Int) Bool)
(assert (forall ((x Int) (y Int)) (Eq x x y)))
(assert (forall ((x Int) (y Int)) (=> (Eq x x x) (Eq y y x))))
(assert (forall ((x Int)) (=> (Eq x x x) (Eq x (+ x 1) x))))

(assert (forall ((x Int) (y Int) (z Int)) (=> (and (Eq x y z) (not (= x y))) false)))
(check-sat)
