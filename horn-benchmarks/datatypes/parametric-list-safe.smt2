; A parametric list, used at two sorts: a list of Booleans and one of numbers grow together; assert the number on top is
; positive whenever the Boolean on top is true.
; Safe: the tops are pushed together.
(set-logic HORN)

(declare-datatypes ((List 1)) ((par (T) ((nil) (cons (head T) (tail (List T)))))))
(declare-fun Two ((List Bool) (List Int) Bool Int) Bool)

(assert (Two (as nil (List Bool)) (as nil (List Int)) false 0))
(assert (forall ((b (List Bool)) (l (List Int)) (p Bool) (q Bool) (m Int) (n Int))
  (=> (and (Two b l p m) (= q (> n 0))) (Two (cons q b) (cons n l) q n))))

(assert (forall ((b (List Bool)) (l (List Int)) (p Bool) (m Int))
  (=> (and (Two b l p m) (= p true) (<= m 0)) false)))

(check-sat)
