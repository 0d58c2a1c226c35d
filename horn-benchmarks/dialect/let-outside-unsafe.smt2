; Syntax: let outside of the implication, nested, with names like a!1.
; Unsafe: 11 is reached.

(set-logic HORN)
(declare-fun Inv (Int Int) Bool)
(assert (forall ((x Int) (n Int))
  (let ((a!1 (= x 0)))
    (=> (and a!1 (= n 10)) (Inv x n)))))
(assert (forall ((x Int) (n Int) (y Int))
  (let ((a!1 (<= x n))
        (a!2 (+ x 1)))
    (let ((a!3 (and (Inv x n) a!1 (= y a!2))))
      (=> a!3 (Inv y n))))))
(assert (forall ((x Int) (n Int))
  (let ((a!1 (not (<= x 10))))
    (=> (and (Inv x n) a!1) false))))
(check-sat)
