; Family products, N = 2, unsafe.
; A product line: a lift with five doors, and N features that each product has or has not. One door is open at
; a time, and the lift opens the next one. A feature has a level, a remainder of its own level and that of the
; feature before it, and may keep the doors of one floor as they are. Safe: no two doors are open, whatever the
; features do, though all of them are in the cone of the property. Unsafe: the last door stays open.
; Expected verdict: unsat
(set-logic HORN)
(declare-fun Lift (Bool Bool Bool Bool Bool Bool Bool Int Int) Bool)
(assert (forall ((f0 Bool) (f1 Bool))
  (Lift true false false false false f0 f1 0 0)))
(assert (forall ((d0 Bool) (d1 Bool) (d2 Bool) (d3 Bool) (d4 Bool) (f0 Bool) (f1 Bool) (l0 Int) (l1 Int) (m0 Int) (m1 Int))
  (=> (and (Lift d0 d1 d2 d3 d4 f0 f1 l0 l1) d0 (or (not f0) (< l0 6)) (= m0 (ite f0 (mod (+ (* 2 l0) l1 1) 7) l0)) (= m1 (ite f1 (mod (+ (* 3 l1) l0 2) 9) l1))) (Lift false true d2 d3 d4 f0 f1 m0 m1))))
(assert (forall ((d0 Bool) (d1 Bool) (d2 Bool) (d3 Bool) (d4 Bool) (f0 Bool) (f1 Bool) (l0 Int) (l1 Int) (m0 Int) (m1 Int))
  (=> (and (Lift d0 d1 d2 d3 d4 f0 f1 l0 l1) d1 (or (not f1) (< l1 6)) (= m0 (ite f0 (mod (+ (* 2 l0) l1 1) 7) l0)) (= m1 (ite f1 (mod (+ (* 3 l1) l0 2) 9) l1))) (Lift d0 false true d3 d4 f0 f1 m0 m1))))
(assert (forall ((d0 Bool) (d1 Bool) (d2 Bool) (d3 Bool) (d4 Bool) (f0 Bool) (f1 Bool) (l0 Int) (l1 Int) (m0 Int) (m1 Int))
  (=> (and (Lift d0 d1 d2 d3 d4 f0 f1 l0 l1) d2 (= m0 (ite f0 (mod (+ (* 2 l0) l1 1) 7) l0)) (= m1 (ite f1 (mod (+ (* 3 l1) l0 2) 9) l1))) (Lift d0 d1 false true d4 f0 f1 m0 m1))))
(assert (forall ((d0 Bool) (d1 Bool) (d2 Bool) (d3 Bool) (d4 Bool) (f0 Bool) (f1 Bool) (l0 Int) (l1 Int) (m0 Int) (m1 Int))
  (=> (and (Lift d0 d1 d2 d3 d4 f0 f1 l0 l1) d3 (= m0 (ite f0 (mod (+ (* 2 l0) l1 1) 7) l0)) (= m1 (ite f1 (mod (+ (* 3 l1) l0 2) 9) l1))) (Lift d0 d1 d2 false true f0 f1 m0 m1))))
(assert (forall ((d0 Bool) (d1 Bool) (d2 Bool) (d3 Bool) (d4 Bool) (f0 Bool) (f1 Bool) (l0 Int) (l1 Int) (m0 Int) (m1 Int))
  (=> (and (Lift d0 d1 d2 d3 d4 f0 f1 l0 l1) d4 (= m0 (ite f0 (mod (+ (* 2 l0) l1 1) 7) l0)) (= m1 (ite f1 (mod (+ (* 3 l1) l0 2) 9) l1))) (Lift true d1 d2 d3 d4 f0 f1 m0 m1))))
(assert (forall ((d0 Bool) (d1 Bool) (d2 Bool) (d3 Bool) (d4 Bool) (f0 Bool) (f1 Bool) (l0 Int) (l1 Int))
  (=> (and (Lift d0 d1 d2 d3 d4 f0 f1 l0 l1) (or (and d0 d1) (and d0 d2) (and d0 d3) (and d0 d4) (and d1 d2) (and d1 d3) (and d1 d4) (and d2 d3) (and d2 d4) (and d3 d4))) false)))
(check-sat)
