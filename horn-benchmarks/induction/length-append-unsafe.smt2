; Functions as relations, results first: len (app x y) = len x + len y.
; Unsafe: the twin counts x twice, which fails for small values.
(set-logic HORN)

(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))
(declare-fun app (Lst Lst Lst) Bool)
(declare-fun len (Int Lst) Bool)

(assert (forall ((y Lst)) (app y nil y)))
(assert (forall ((o Lst) (x Lst) (y Lst) (h Int)) (=> (app o x y) (app (cons h o) (cons h x) y))))
(assert (len 0 nil))
(assert (forall ((n Int) (x Lst) (h Int)) (=> (len n x) (len (+ n 1) (cons h x)))))

(assert (forall ((x Lst) (y Lst) (a Lst) (i Int) (j Int)) (=> (and (app a x y) (len i a) (len j x) (not (= i (+ j j)))) false)))

(check-sat)
