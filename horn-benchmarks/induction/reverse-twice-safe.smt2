; Functions as relations, results first: rev (rev x) = x, with a relation for what differs.
; Safe: by rev (app x [h]) = h : rev x.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-datatypes ((Lst 0)) (((nil) (cons (head Nat) (tail Lst)))))
(declare-fun app (Lst Lst Lst) Bool)
(declare-fun rev (Lst Lst) Bool)
(declare-fun differ (Lst Lst) Bool)

(assert (forall ((y Lst)) (app y nil y)))
(assert (forall ((o Lst) (x Lst) (y Lst) (h Nat)) (=> (app o x y) (app (cons h o) (cons h x) y))))
(assert (rev nil nil))
(assert (forall ((o Lst) (r Lst) (x Lst) (h Nat)) (=> (and (rev r x) (app o r (cons h nil))) (rev o (cons h x)))))
(assert (forall ((h Nat) (x Lst)) (differ nil (cons h x))))
(assert (forall ((h Nat) (x Lst)) (differ (cons h x) nil)))
(assert (forall ((g Nat) (h Nat) (x Lst) (y Lst)) (=> (not (= g h)) (differ (cons g x) (cons h y)))))
(assert (forall ((g Nat) (h Nat) (x Lst) (y Lst)) (=> (differ x y) (differ (cons g x) (cons h y)))))

(assert (forall ((x Lst) (a Lst) (b Lst)) (=> (and (rev a x) (rev b a) (differ b x)) false)))

(check-sat)
