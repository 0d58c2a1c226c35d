; expect: sat
; with: engine=interp passes=none interp.kinds=S interp.search=bfs interp.blocks=clause interp.force=none interp.prune=false
; No action leaves Q, so no region was derived for it, and Q was defined as false.
(set-logic HORN)
(declare-fun P (Bool) Bool)
(declare-fun Q (Bool) Bool)
(assert (forall ((x Bool)) (=> x (P x))))
(assert (forall ((x Bool)) (=> (not x) (Q x))))
(assert (forall ((x Bool) (y Bool)) (=> (and (P x) (not (= x y))) (Q y))))
(assert (forall ((x Bool)) (=> (and (Q x) false) false)))
(assert (forall ((x Bool)) (=> (and (P x) (not x)) false)))
(check-sat)
