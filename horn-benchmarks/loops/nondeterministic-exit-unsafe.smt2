; n = nd(); x = n; while (x > 0 && nd()) x--; assert x = 0 || n <= 0
; Unsafe: the loop may stop early.
(set-logic HORN)

(declare-fun Lo (Int Int) Bool)
(declare-fun Ex (Int Int) Bool)

(assert (forall ((n Int))
  (Lo n n)))
(assert (forall ((n Int) (x Int))
  (=> (and (Lo n x) (> x 0)) (Lo n (- x 1)))))
(assert (forall ((n Int) (x Int))
  (=> (Lo n x) (Ex n x))))
(assert (forall ((n Int) (x Int))
  (=> (and (Ex n x) (not (or (= x 0) (<= n 0)))) false)))

(check-sat)
