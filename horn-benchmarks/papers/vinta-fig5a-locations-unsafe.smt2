; VINTA (SAS 2012), Fig. 5(a), a predicate for each location: entry, loop head, body, exit, error.
; Unsafe: starting at 1, x = 9 is reached after four rounds.
(set-logic HORN)

(declare-fun Entry () Bool)
(declare-fun Loop (Int) Bool)
(declare-fun Body (Int) Bool)
(declare-fun Exit (Int) Bool)
(declare-fun Error () Bool)

(assert Entry)
(assert (=> Entry (Loop 1)))
(assert (forall ((x Int))
  (=> (and (Loop x) (< x 10)) (Body x))))
(assert (forall ((x Int))
  (=> (and (Loop x) (>= x 10)) (Exit x))))
(assert (forall ((x Int))
  (=> (and (Body x) (= x 9)) Error)))
(assert (forall ((x Int))
  (=> (and (Body x) (distinct x 9)) (Loop (+ x 2)))))
(assert (=> Error false))

(check-sat)
