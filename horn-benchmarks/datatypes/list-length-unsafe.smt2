; The length of a list as a relation; assert length >= 0 and no list has length 3
; Unsafe: three conses.
(set-logic HORN)

(declare-datatypes ((IntList 0)) (((nil) (cons (head Int) (tail IntList)))))
(declare-fun Len (IntList Int) Bool)

(assert (Len nil 0))
(assert (forall ((x Int) (n Int) (l IntList))
  (=> (Len l n) (Len (cons x l) (+ n 1)))))
(assert (forall ((l IntList) (n Int))
  (=> (and (Len l n) (= n 3)) false)))

(check-sat)
