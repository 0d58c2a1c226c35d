; Functions as relations, results first: app x (app y z) = app (app x y) z.
; Safe: by induction on x.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-datatypes ((Lst 0)) (((nil) (cons (head Nat) (tail Lst)))))
(declare-fun app (Lst Lst Lst) Bool)

(assert (forall ((y Lst)) (app y nil y)))
(assert (forall ((o Lst) (x Lst) (y Lst) (h Nat)) (=> (app o x y) (app (cons h o) (cons h x) y))))

(assert (forall ((x Lst) (y Lst) (z Lst) (a Lst) (b Lst) (c Lst) (d Lst)) (=> (and (app a y z) (app b x a) (app c x y) (app d c z) (not (= b d))) false)))

(check-sat)
