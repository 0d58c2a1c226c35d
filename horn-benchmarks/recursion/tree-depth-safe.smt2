; Call trees: T(d, l): a call of depth d has l leaves; a node has one or two children of lower depth.
; assert l >= 1
; Safe: each subtree has a leaf.
(set-logic HORN)

(declare-fun T (Int Int) Bool)

(assert (T 0 1))
(assert (forall ((d Int) (l Int))
  (=> (T d l) (T (+ d 1) l))))
(assert (forall ((d Int) (l Int) (m Int))
  (=> (and (T d l) (T d m)) (T (+ d 1) (+ l m)))))
(assert (forall ((d Int) (l Int))
  (=> (and (T d l) (or (< l 1) false)) false)))

(check-sat)
