; Binary trees: size and height as relations; assert size >= height
; Safe: size >= height >= 0 by induction.
(set-logic HORN)

(declare-datatypes ((Tree 0)) (((leaf) (node (left Tree) (label Int) (right Tree)))))
(declare-fun SH (Tree Int Int) Bool)

(assert (SH leaf 0 0))
(assert (forall ((l Tree) (r Tree) (v Int) (s Int) (t Int) (h Int) (k Int) (m Int))
  (=> (and (SH l s h) (SH r t k) (= m (ite (> h k) h k))) (SH (node l v r) (+ s 1 t) (+ m 1)))))
(assert (forall ((t Tree) (s Int) (h Int))
  (=> (and (SH t s h) (< s h)) false)))

(check-sat)
