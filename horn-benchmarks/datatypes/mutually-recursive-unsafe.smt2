; Rose trees: a tree has a label and a forest, a forest is a list of trees. Size >= 2 for trees.
; Unsafe: a tree with no children.
(set-logic HORN)

(declare-datatypes ((Rose 0) (Forest 0)) (((rose (label Int) (kids Forest))) ((empty) (more (first Rose) (rest Forest)))))
(declare-fun Size (Rose Int) Bool)
(declare-fun Sizes (Forest Int) Bool)

(assert (Sizes empty 0))
(assert (forall ((r Rose) (f Forest) (m Int) (n Int))
  (=> (and (Size r m) (Sizes f n)) (Sizes (more r f) (+ m n)))))
(assert (forall ((x Int) (n Int) (f Forest))
  (=> (Sizes f n) (Size (rose x f) (+ n 1)))))
(assert (forall ((r Rose) (n Int))
  (=> (and (Size r n) (< n 2)) false)))

(check-sat)
