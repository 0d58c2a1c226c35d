; InterpChecker (ASE 2017), Fig. 1, Exa.c, over the reals; inputs a and i are unconstrained.
; Unsafe (as in the paper): a = 1 and i <= 1 give s = 4.
(set-logic HORN)

(declare-fun L2 (Real Real Real) Bool)
(declare-fun L7 (Real Real Real) Bool)

(assert (forall ((a Real) (i Real) (s Real))
  (=> (= s 1.0) (L2 a i s))))
(assert (forall ((a Real) (i Real) (s Real) (s1 Real))
  (=> (and (L2 a i s) (= a 1.0) (= s1 (ite (> i 1.0) (+ s 2.0) (+ s 3.0)))) (L7 a i s1))))
(assert (forall ((a Real) (i Real) (s Real) (s1 Real))
  (=> (and (L2 a i s) (not (= a 1.0)) (= s1 (ite (> i 1.0) (+ s 1.0) (+ s 2.0)))) (L7 a i s1))))
(assert (forall ((a Real) (i Real) (s Real))
  (=> (and (L7 a i s) (> s 3.0)) false)))

(check-sat)
