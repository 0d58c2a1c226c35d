; Functions as relations, results last: len (app x y) = len (app y x).
; Safe: both are len x + len y.
(set-logic HORN)

(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))
(declare-fun app (Lst Lst Lst) Bool)
(declare-fun len (Lst Int) Bool)

(assert (forall ((y Lst)) (app nil y y)))
(assert (forall ((h Int) (x Lst) (y Lst) (z Lst)) (=> (app x y z) (app (cons h x) y (cons h z)))))
(assert (len nil 0))
(assert (forall ((h Int) (x Lst) (n Int)) (=> (len x n) (len (cons h x) (+ n 1)))))

(assert (forall ((x Lst) (y Lst) (a Lst) (b Lst) (m Int) (n Int)) (=> (and (app x y a) (app y x b) (len a m) (len b n) (not (= m n))) false)))

(check-sat)
