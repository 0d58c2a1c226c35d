; Elements are dropped in two steps, in both orders. Not so: for m = 0, n = 1 and a list of one element.
(set-logic HORN)
(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))
(declare-fun drop (Int L L) Bool)
(assert (forall ((l L)) (drop 0 l l)))
(assert (forall ((n Int)) (=> (> n 0) (drop n nil nil))))
(assert (forall ((l L) (m L) (n Int) (x Int)) (=> (and (> n 0) (drop (- n 1) l m)) (drop n (cons x l) m))))
(assert (forall ((a L) (b L) (c L) (d L) (e L) (m Int) (n Int)) (=> (and (drop m a b) (drop n b c) (drop n a d) (drop m d e) (distinct b d)) false)))
(check-sat)
