; Both branches on a secret have the same effect. Not so: for g = 8, h = 7 and l = 1.
(set-logic HORN)
(declare-fun leak (Int Int Int) Bool)
(assert (forall ((h Int) (l Int)) (=> (<= l 0) (leak h l 0))))
(assert (forall ((h Int) (l Int) (r Int)) (=> (and (> l 0) (> h 7) (leak h (- l 1) r)) (leak h l (+ r 1)))))
(assert (forall ((h Int) (l Int) (r Int)) (=> (and (> l 0) (<= h 7) (leak h (- l 1) r)) (leak h l (+ r 2)))))
(assert (forall ((a Int) (b Int) (g Int) (h Int) (l Int)) (=> (and (leak g l a) (leak h l b) (distinct a b)) false)))
(check-sat)
