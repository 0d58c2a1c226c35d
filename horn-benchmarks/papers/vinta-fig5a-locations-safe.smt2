; VINTA (SAS 2012), Fig. 5(a), a predicate for each location: entry, loop head, body, exit, error.
; Safe: x <= 10 and x != 9 is inductive; what leads to 9 is 11.
(set-logic HORN)

(declare-fun Entry () Bool)
(declare-fun Loop (Int) Bool)
(declare-fun Body (Int) Bool)
(declare-fun Exit (Int) Bool)
(declare-fun Error () Bool)

(assert Entry)
(assert (=> Entry (Loop 10)))
(assert (forall ((x Int))
  (=> (Loop x) (Body x))))
(assert (forall ((x Int))
  (=> (Loop x) (Exit x))))
(assert (forall ((x Int))
  (=> (Body x) (Loop (- x 2)))))
(assert (forall ((x Int))
  (=> (and (Exit x) (= x 9)) Error)))
(assert (=> Error false))

(check-sat)
