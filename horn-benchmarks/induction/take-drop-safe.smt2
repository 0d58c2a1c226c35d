; Functions as relations, results first: app (take n x) (drop n x) = x.
; Safe: by induction on n and x together.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-datatypes ((Lst 0)) (((nil) (cons (head Nat) (tail Lst)))))
(declare-fun app (Lst Lst Lst) Bool)
(declare-fun take (Lst Nat Lst) Bool)
(declare-fun drop (Lst Nat Lst) Bool)

(assert (forall ((y Lst)) (app y nil y)))
(assert (forall ((o Lst) (x Lst) (y Lst) (h Nat)) (=> (app o x y) (app (cons h o) (cons h x) y))))
(assert (forall ((x Lst)) (take nil zero x)))
(assert (forall ((n Nat)) (take nil (succ n) nil)))
(assert (forall ((o Lst) (n Nat) (x Lst) (h Nat)) (=> (take o n x) (take (cons h o) (succ n) (cons h x)))))
(assert (forall ((x Lst)) (drop x zero x)))
(assert (forall ((n Nat)) (drop nil (succ n) nil)))
(assert (forall ((o Lst) (n Nat) (x Lst) (h Nat)) (=> (drop o n x) (drop o (succ n) (cons h x)))))

(assert (forall ((n Nat) (x Lst) (a Lst) (b Lst) (c Lst)) (=> (and (take a n x) (drop b n x) (app c a b) (not (= c x))) false)))

(check-sat)
