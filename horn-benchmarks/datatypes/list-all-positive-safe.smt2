; A list of positive numbers is built, then its head is taken; assert head > 0.
; Safe: only the head matters: every cons has a positive head.
(set-logic HORN)

(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
(declare-fun Build (List Int) Bool)

(assert (Build nil 0))
(assert (forall ((l List) (n Int) (x Int))
  (=> (and (Build l n) (> x 0)) (Build (cons x l) (+ n 1)))))
(assert (forall ((l List) (n Int))
  (=> (and (Build l n) ((_ is cons) l) (<= (head l) 0)) false)))

(check-sat)
