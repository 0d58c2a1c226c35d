; Functions as relations, results first: sum (app x y) = sum (app y x).
; Safe: by sum (app x y) = sum x + sum y.
(set-logic HORN)

(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))
(declare-fun app (Lst Lst Lst) Bool)
(declare-fun sum (Int Lst) Bool)

(assert (forall ((y Lst)) (app y nil y)))
(assert (forall ((o Lst) (x Lst) (y Lst) (h Int)) (=> (app o x y) (app (cons h o) (cons h x) y))))
(assert (sum 0 nil))
(assert (forall ((n Int) (x Lst) (h Int)) (=> (sum n x) (sum (+ n h) (cons h x)))))

(assert (forall ((x Lst) (y Lst) (a Lst) (b Lst) (i Int) (j Int)) (=> (and (app a x y) (app b y x) (sum i a) (sum j b) (not (= i j))) false)))

(check-sat)
