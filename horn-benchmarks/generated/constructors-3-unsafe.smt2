; Family constructors, N = 3, unsafe.
; A datatype of N constructors, each with a number that is raised at each step. The machine goes through the
; constructors in order and starts again with the first. Safe: the number is that of the constructor. Unsafe:
; from the last constructor but one the machine may stay there and count.
; Expected verdict: unsat
(set-logic HORN)
(declare-datatypes ((State 0)) (((c0 (x0 Int)) (c1 (x1 Int)) (c2 (x2 Int)))))
(declare-fun Main (State) Bool)
(assert (Main (c0 0)))
(assert (forall ((x Int))
  (=> (Main (c0 x)) (Main (c1 (+ x 1))))))
(assert (forall ((x Int))
  (=> (Main (c1 x)) (Main (c2 (+ x 1))))))
(assert (forall ((x Int))
  (=> (Main (c2 x)) (Main (c0 0)))))
(assert (forall ((x Int))
  (=> (Main (c1 x)) (Main (c1 (+ x 1))))))
(assert (forall ((x Int))
  (=> (and (Main (c2 x)) (not (= x 2))) false)))
(check-sat)
