; Functions as relations, results first: rev (app x y) = app (rev y) (rev x).
; Unsafe: the twin has the lists the other way round, which fails for small values.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-datatypes ((Lst 0)) (((nil) (cons (head Nat) (tail Lst)))))
(declare-fun app (Lst Lst Lst) Bool)
(declare-fun rev (Lst Lst) Bool)

(assert (forall ((y Lst)) (app y nil y)))
(assert (forall ((o Lst) (x Lst) (y Lst) (h Nat)) (=> (app o x y) (app (cons h o) (cons h x) y))))
(assert (rev nil nil))
(assert (forall ((o Lst) (r Lst) (x Lst) (h Nat)) (=> (and (rev r x) (app o r (cons h nil))) (rev o (cons h x)))))

(assert (forall ((x Lst) (y Lst) (a Lst) (b Lst) (c Lst) (d Lst) (e Lst)) (=> (and (app a x y) (rev b a) (rev c x) (rev d y) (app e c d) (not (= b e))) false)))

(check-sat)
