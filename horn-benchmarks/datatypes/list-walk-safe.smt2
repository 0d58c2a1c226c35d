; A loop walks down a list and counts: n = 0; while (l != nil) { l = tail(l); n++; } assert n >= 0
; Safe: n never decreases.
(set-logic HORN)

(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
(declare-fun Walk (List Int) Bool)
(declare-fun Done (Int) Bool)

(assert (forall ((l List))
  (Walk l 0)))
(assert (forall ((l List) (n Int))
  (=> (and (Walk l n) ((_ is cons) l)) (Walk (tail l) (+ n 1)))))
(assert (forall ((l List) (n Int))
  (=> (and (Walk l n) ((_ is nil) l)) (Done n))))
(assert (forall ((n Int))
  (=> (and (Done n) (< n 0)) false)))

(check-sat)
