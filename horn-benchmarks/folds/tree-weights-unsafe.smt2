; As tree-weights-safe, but the mirror image adds one to each value.
; Unsafe: a node without branches.
(set-logic HORN)

(declare-datatypes ((Tree 0)) (((leaf) (node (left Tree) (value Int) (right Tree)))))
(declare-fun mirror (Tree Tree) Bool)
(declare-fun weigh (Tree Int) Bool)

(assert (mirror leaf leaf))
(assert (forall ((l Tree) (r Tree) (k Tree) (s Tree) (v Int))
  (=> (and (mirror l k) (mirror r s)) (mirror (node l v r) (node s (+ v 1) k)))))
(assert (weigh leaf 1))
(assert (forall ((l Tree) (r Tree) (v Int) (n Int) (m Int))
  (=> (and (weigh l n) (weigh r m)) (weigh (node l v r) (+ n m (* 2 v))))))
(assert (forall ((t Tree) (u Tree) (n Int) (m Int))
  (=> (and (mirror t u) (weigh t n) (weigh u m) (not (= n m))) false)))

(check-sat)
