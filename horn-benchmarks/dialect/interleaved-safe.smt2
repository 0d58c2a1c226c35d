; Syntax: declarations and assertions interleaved, several commands on a line, comments between, no line end at the end.
; Safe: C needs a negative number.
(set-logic HORN) (declare-fun A (Int) Bool) (assert (A 1)) ; a comment (with parentheses
(declare-fun B (Int) Bool) (assert (forall ((x Int)) ; another "comment |
 (=> (A x) (B x))))
(declare-fun C (Int) Bool)(assert(forall((x Int))(=>(and(B x)(< x 0))(C x))))
(assert (forall ((x Int)) (=> (C x) false)))
(check-sat)
