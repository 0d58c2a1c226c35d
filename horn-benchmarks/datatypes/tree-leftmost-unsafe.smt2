; Descend to the left in a tree whose labels are bounded by one more than the label at the top; assert label <= top.
; Unsafe: a step may raise the label by one.
(set-logic HORN)

(declare-datatypes ((Tree 0)) (((leaf) (node (left Tree) (label Int) (right Tree)))))
(declare-fun Down (Tree Int) Bool)

(assert (forall ((t Tree))
  (=> ((_ is node) t) (Down t (label t)))))
(assert (forall ((t Tree) (n Int))
  (=> (and (Down t n) ((_ is node) t) ((_ is node) (left t)) (<= (label (left t)) (+ (label t) 1)))
      (Down (left t) n))))
(assert (forall ((t Tree) (n Int))
  (=> (and (Down t n) ((_ is node) t) (> (label t) n)) false)))

(check-sat)
