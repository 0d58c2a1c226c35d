; Functions as relations, results first: mirror (mirror t) = t.
; Safe: by induction on t.
(set-logic HORN)

(declare-datatypes ((Tree 0)) (((leaf) (node (left Tree) (label Int) (right Tree)))))
(declare-fun mirror (Tree Tree) Bool)

(assert (mirror leaf leaf))
(assert (forall ((a Tree) (b Tree) (l Tree) (r Tree) (v Int)) (=> (and (mirror a l) (mirror b r)) (mirror (node b v a) (node l v r)))))

(assert (forall ((t Tree) (a Tree) (b Tree)) (=> (and (mirror a t) (mirror b a) (not (= b t))) false)))

(check-sat)
