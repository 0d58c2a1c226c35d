; Functions as relations, results first: count e (app x y) = count e x + count e y.
; Unsafe: the twin says that y counts for nothing, which fails for small values.
(set-logic HORN)

(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))
(declare-fun app (Lst Lst Lst) Bool)
(declare-fun count (Int Int Lst) Bool)

(assert (forall ((y Lst)) (app y nil y)))
(assert (forall ((o Lst) (x Lst) (y Lst) (h Int)) (=> (app o x y) (app (cons h o) (cons h x) y))))
(assert (forall ((e Int)) (count 0 e nil)))
(assert (forall ((n Int) (e Int) (x Lst)) (=> (count n e x) (count (+ n 1) e (cons e x)))))
(assert (forall ((n Int) (e Int) (h Int) (x Lst)) (=> (and (count n e x) (not (= e h))) (count n e (cons h x)))))

(assert (forall ((e Int) (x Lst) (y Lst) (a Lst) (i Int) (j Int)) (=> (and (app a x y) (count i e a) (count j e x) (> i j)) false)))

(check-sat)
