; Functions as relations, results first: mirror (mirror t) = t.
; Unsafe: the twin says mirror t = t, which fails for small values.
(set-logic HORN)

(declare-datatypes ((Tree 0)) (((leaf) (node (left Tree) (label Int) (right Tree)))))
(declare-fun mirror (Tree Tree) Bool)

(assert (mirror leaf leaf))
(assert (forall ((a Tree) (b Tree) (l Tree) (r Tree) (v Int)) (=> (and (mirror a l) (mirror b r)) (mirror (node b v a) (node l v r)))))

(assert (forall ((t Tree) (a Tree)) (=> (and (mirror a t) (not (= a t))) false)))

(check-sat)
