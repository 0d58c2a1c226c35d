; Trees of integers and their mirror images: a leaf weighs one, a node twice its value more than its
; branches; assert that a tree and its mirror image have the same weight.
; Safe: both have the same number of nodes and the same sum.
(set-logic HORN)

(declare-datatypes ((Tree 0)) (((leaf) (node (left Tree) (value Int) (right Tree)))))
(declare-fun mirror (Tree Tree) Bool)
(declare-fun weigh (Tree Int) Bool)

(assert (mirror leaf leaf))
(assert (forall ((l Tree) (r Tree) (k Tree) (s Tree) (v Int))
  (=> (and (mirror l k) (mirror r s)) (mirror (node l v r) (node s v k)))))
(assert (weigh leaf 1))
(assert (forall ((l Tree) (r Tree) (v Int) (n Int) (m Int))
  (=> (and (weigh l n) (weigh r m)) (weigh (node l v r) (+ n m (* 2 v))))))
(assert (forall ((t Tree) (u Tree) (n Int) (m Int))
  (=> (and (mirror t u) (weigh t n) (weigh u m) (not (= n m))) false)))

(check-sat)
