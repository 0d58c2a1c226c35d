; expect: sat
; Z3 predefines a sort List when no logic is set: the user's own one must win when a model is checked.
(set-logic HORN)
(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
(declare-fun P (List) Bool)
(assert (forall ((l List)) (=> (= l nil) (P l))))
(assert (forall ((l List) (m List)) (=> (and (P l) (= m (cons 1 l))) (P m))))
(assert (forall ((l List)) (=> (and (P l) (not (= l nil)) (not (= (head l) 1))) false)))
(check-sat)
