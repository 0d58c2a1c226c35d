; What is seen does not depend on a secret that the loop changes.
(set-logic HORN)
(declare-fun quiet (Int Int Int) Bool)
(assert (forall ((h Int) (l Int)) (=> (<= l 0) (quiet h l 0))))
(assert (forall ((h Int) (l Int) (r Int)) (=> (and (> l 0) (quiet (+ h h 1) (- l 1) r)) (quiet h l (+ r 2)))))
(assert (forall ((a Int) (b Int) (g Int) (h Int) (l Int)) (=> (and (quiet g l a) (quiet h l b) (distinct a b)) false)))
(check-sat)
