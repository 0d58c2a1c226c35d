; Functions as relations, results first: app x (app y z) = app (app x y) z.
; Unsafe: the twin says app x y = app y x, which fails for small values.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-datatypes ((Lst 0)) (((nil) (cons (head Nat) (tail Lst)))))
(declare-fun app (Lst Lst Lst) Bool)

(assert (forall ((y Lst)) (app y nil y)))
(assert (forall ((o Lst) (x Lst) (y Lst) (h Nat)) (=> (app o x y) (app (cons h o) (cons h x) y))))

(assert (forall ((x Lst) (y Lst) (a Lst) (b Lst)) (=> (and (app a x y) (app b y x) (not (= a b))) false)))

(check-sat)
