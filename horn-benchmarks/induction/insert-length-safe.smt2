; Functions as relations, results first: len (ins e x) = len x + 1.
; Safe: by induction on x.
(set-logic HORN)

(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))
(declare-fun ins (Lst Int Lst) Bool)
(declare-fun len (Int Lst) Bool)

(assert (forall ((e Int)) (ins (cons e nil) e nil)))
(assert (forall ((e Int) (h Int) (x Lst)) (=> (<= e h) (ins (cons e (cons h x)) e (cons h x)))))
(assert (forall ((o Lst) (e Int) (h Int) (x Lst)) (=> (and (ins o e x) (> e h)) (ins (cons h o) e (cons h x)))))
(assert (len 0 nil))
(assert (forall ((n Int) (x Lst) (h Int)) (=> (len n x) (len (+ n 1) (cons h x)))))

(assert (forall ((e Int) (x Lst) (a Lst) (i Int) (j Int)) (=> (and (ins a e x) (len i a) (len j x) (not (= i (+ j 1)))) false)))

(check-sat)
