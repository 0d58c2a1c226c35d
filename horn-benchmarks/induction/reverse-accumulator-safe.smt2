; Functions as relations, results first: qrev x nil = rev x.
; Safe: by qrev x y = app (rev x) y.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-datatypes ((Lst 0)) (((nil) (cons (head Nat) (tail Lst)))))
(declare-fun app (Lst Lst Lst) Bool)
(declare-fun rev (Lst Lst) Bool)
(declare-fun qrev (Lst Lst Lst) Bool)

(assert (forall ((y Lst)) (app y nil y)))
(assert (forall ((o Lst) (x Lst) (y Lst) (h Nat)) (=> (app o x y) (app (cons h o) (cons h x) y))))
(assert (rev nil nil))
(assert (forall ((o Lst) (r Lst) (x Lst) (h Nat)) (=> (and (rev r x) (app o r (cons h nil))) (rev o (cons h x)))))
(assert (forall ((y Lst)) (qrev y nil y)))
(assert (forall ((o Lst) (x Lst) (y Lst) (h Nat)) (=> (qrev o x (cons h y)) (qrev o (cons h x) y))))

(assert (forall ((x Lst) (a Lst) (b Lst)) (=> (and (rev a x) (qrev b x nil) (not (= a b))) false)))

(check-sat)
