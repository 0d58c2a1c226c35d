; The result does not depend on the path that a secret chooses.
(set-logic HORN)
(declare-fun sift (Int Int Int) Bool)
(assert (forall ((h Int) (l Int)) (=> (<= l 0) (sift h l l))))
(assert (forall ((h Int) (l Int) (r Int)) (=> (and (> l 0) (< h l) (sift h (- l 1) r)) (sift h l r))))
(assert (forall ((h Int) (l Int) (r Int)) (=> (and (> l 0) (>= h l) (sift (- h 1) (- l 1) r)) (sift h l r))))
(assert (forall ((a Int) (b Int) (g Int) (h Int) (l Int)) (=> (and (sift g l a) (sift h l b) (distinct a b)) false)))
(check-sat)
