; A counter goes up to 20, stays there for a while, then goes down to 0; the last phase never ends.
; Unsafe: the last phase does not stop at 0.
(set-logic HORN)

(declare-fun S (Int Int) Bool)

(assert (S 0 0))
(assert (forall ((p Int) (x Int))
  (=> (and (S p x) (= p 0) (< x 20)) (S 0 (+ x 1)))))
(assert (forall ((p Int) (x Int))
  (=> (and (S p x) (= p 0) (= x 20)) (S 1 x))))
(assert (forall ((p Int) (x Int))
  (=> (and (S p x) (= p 1)) (S 1 x))))
(assert (forall ((p Int) (x Int))
  (=> (and (S p x) (= p 1)) (S 2 x))))
(assert (forall ((p Int) (x Int))
  (=> (and (S p x) (= p 2)) (S 2 (- x 1)))))
(assert (forall ((p Int) (x Int))
  (=> (and (S p x) (or (< x 0) (> x 20))) false)))

(check-sat)
