; Descend to the left in a tree whose labels are bounded by the label at the top; assert label <= top.
; Safe: labels never rise on the way down (each step assumes it).
(set-logic HORN)

(declare-datatypes ((Tree 0)) (((leaf) (node (left Tree) (label Int) (right Tree)))))
(declare-fun Down (Tree Int) Bool)

(assert (forall ((t Tree))
  (=> ((_ is node) t) (Down t (label t)))))
(assert (forall ((t Tree) (n Int))
  (=> (and (Down t n) ((_ is node) t) ((_ is node) (left t)) (<= (label (left t)) (+ (label t) 0)))
      (Down (left t) n))))
(assert (forall ((t Tree) (n Int))
  (=> (and (Down t n) ((_ is node) t) (> (label t) n)) false)))

(check-sat)
