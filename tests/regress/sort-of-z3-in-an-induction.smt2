; expect: sat
; with: engine=relate
; Questions of a proof by induction kept the name of a sort that Z3 has.
(set-logic HORN)
(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
(declare-fun len (List Int) Bool)
(assert (len nil 0))
(assert (forall ((l List) (h Int) (n Int)) (=> (len l n) (len (cons h l) (+ n 1)))))
(assert (forall ((l List) (m Int) (n Int)) (=> (and (len l m) (len l n) (not (= m n))) false)))
(check-sat)
