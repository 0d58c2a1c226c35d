; A goal that does not hold: `sat`, with a counterexample.
(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
(define-fun-rec append ((x List) (y List)) List
  (match x ((nil y) ((cons h t) (cons h (append t y))))))
(assert (not (forall ((x List) (y List)) (= (append x y) (append y x)))))
(check-sat)
