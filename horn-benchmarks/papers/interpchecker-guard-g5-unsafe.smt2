; InterpChecker (ASE 2017): the update and use rules need a guard here. A pruned node covers by its region only.
; The second entry is pruned at A because its prefix is safe; its label still says nothing of x.
; Unsafe: the third entry, which that label covers, has x = 9.
(set-logic HORN)

(declare-fun A (Int) Bool)

(assert (forall ((x Int)) (=> (= x 0) (A x))))
(assert (forall ((x Int)) (=> (= x 1) (A x))))
(assert (forall ((x Int)) (=> (= x 9) (A x))))
(assert (forall ((x Int)) (=> (and (A x) (> x 5)) false)))

(check-sat)
