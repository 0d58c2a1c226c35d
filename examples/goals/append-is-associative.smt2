; A goal: appending lists is associative. `unsat` means that it is proven.
(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
(define-fun-rec append ((x List) (y List)) List
  (match x ((nil y) ((cons h t) (cons h (append t y))))))
(assert (not (forall ((x List) (y List) (z List))
  (= (append (append x y) z) (append x (append y z))))))
(check-sat)
