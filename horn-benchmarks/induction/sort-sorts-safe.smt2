; Functions as relations, results last: insertion sort gives a sorted list.
; Safe: inserting changes nothing about whether a list is sorted.
(set-logic HORN)

(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))
(declare-fun insert (Int Lst Lst) Bool)
(declare-fun sort (Lst Lst) Bool)
(declare-fun sorted (Lst Bool) Bool)

(assert (forall ((x Int)) (insert x nil (cons x nil))))
(assert (forall ((x Int) (h Int) (t Lst)) (=> (<= x h) (insert x (cons h t) (cons x (cons h t))))))
(assert (forall ((x Int) (h Int) (t Lst) (r Lst)) (=> (and (insert x t r) (> x h)) (insert x (cons h t) (cons h r)))))
(assert (sort nil nil))
(assert (forall ((h Int) (t Lst) (r Lst) (s Lst)) (=> (and (sort t r) (insert h r s)) (sort (cons h t) s))))
(assert (sorted nil true))
(assert (forall ((h Int)) (sorted (cons h nil) true)))
(assert (forall ((h Int) (i Int) (t Lst) (b Bool)) (=> (and (sorted (cons i t) b) (<= h i)) (sorted (cons h (cons i t)) b))))
(assert (forall ((h Int) (i Int) (t Lst)) (=> (> h i) (sorted (cons h (cons i t)) false))))

(assert (forall ((l Lst) (s Lst)) (=> (and (sort l s) (sorted s false)) false)))

(check-sat)
