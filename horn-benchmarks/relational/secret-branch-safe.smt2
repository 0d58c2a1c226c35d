; Both branches on a secret have the same effect.
(set-logic HORN)
(declare-fun equal (Int Int Int) Bool)
(assert (forall ((h Int) (l Int)) (=> (<= l 0) (equal h l 0))))
(assert (forall ((h Int) (l Int) (r Int)) (=> (and (> l 0) (> h 0) (equal (- h 1) (- l 1) r)) (equal h l (+ r 1)))))
(assert (forall ((h Int) (l Int) (r Int)) (=> (and (> l 0) (<= h 0) (equal (+ h 5) (- l 1) r)) (equal h l (+ 1 r)))))
(assert (forall ((a Int) (b Int) (g Int) (h Int) (l Int)) (=> (and (equal g l a) (equal h l b) (distinct a b)) false)))
(check-sat)
