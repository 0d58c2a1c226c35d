; A nonlinear clause with three body atoms: P is closed under x + y - z. From 3 and 7 only odd numbers come.
; Safe: x + y - z of odd numbers is odd; 10 is not derived.
(set-logic HORN)

(declare-fun P (Int) Bool)

(assert (P 3))
(assert (P 7))
(assert (forall ((x Int) (y Int) (z Int))
  (=> (and (P x) (P y) (P z)) (P (- (+ x y) z)))))
(assert (forall ((x Int))
  (=> (and (P x) (= x 10)) false)))

(check-sat)
