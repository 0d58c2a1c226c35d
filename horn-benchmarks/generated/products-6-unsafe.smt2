; Family products, N = 6, unsafe.
; A product line: a lift with five doors, and N features that each product has or has not. One door is open at
; a time, and the lift opens the next one. A feature has a level, a remainder of its own level and that of the
; feature before it, and may keep the doors of one floor as they are. Safe: no two doors are open, whatever the
; features do, though all of them are in the cone of the property. Unsafe: the last door stays open.
; Expected verdict: unsat
(set-logic HORN)
(declare-fun Lift (Bool Bool Bool Bool Bool Bool Bool Bool Bool Bool Bool Int Int Int Int Int Int) Bool)
(assert (forall ((f0 Bool) (f1 Bool) (f2 Bool) (f3 Bool) (f4 Bool) (f5 Bool))
  (Lift true false false false false f0 f1 f2 f3 f4 f5 0 0 0 0 0 0)))
(assert (forall ((d0 Bool) (d1 Bool) (d2 Bool) (d3 Bool) (d4 Bool) (f0 Bool) (f1 Bool) (f2 Bool) (f3 Bool) (f4 Bool) (f5 Bool) (l0 Int) (l1 Int) (l2 Int) (l3 Int) (l4 Int) (l5 Int) (m0 Int) (m1 Int) (m2 Int) (m3 Int) (m4 Int) (m5 Int))
  (=> (and (Lift d0 d1 d2 d3 d4 f0 f1 f2 f3 f4 f5 l0 l1 l2 l3 l4 l5) d0 (or (not f0) (< l0 6)) (or (not f5) (< l5 6)) (= m0 (ite f0 (mod (+ (* 2 l0) l5 1) 7) l0)) (= m1 (ite f1 (mod (+ (* 3 l1) l0 2) 9) l1)) (= m2 (ite f2 (mod (+ (* 4 l2) l1 3) 11) l2)) (= m3 (ite f3 (mod (+ (* 2 l3) l2 4) 13) l3)) (= m4 (ite f4 (mod (+ (* 3 l4) l3 5) 7) l4)) (= m5 (ite f5 (mod (+ (* 4 l5) l4 1) 9) l5))) (Lift false true d2 d3 d4 f0 f1 f2 f3 f4 f5 m0 m1 m2 m3 m4 m5))))
(assert (forall ((d0 Bool) (d1 Bool) (d2 Bool) (d3 Bool) (d4 Bool) (f0 Bool) (f1 Bool) (f2 Bool) (f3 Bool) (f4 Bool) (f5 Bool) (l0 Int) (l1 Int) (l2 Int) (l3 Int) (l4 Int) (l5 Int) (m0 Int) (m1 Int) (m2 Int) (m3 Int) (m4 Int) (m5 Int))
  (=> (and (Lift d0 d1 d2 d3 d4 f0 f1 f2 f3 f4 f5 l0 l1 l2 l3 l4 l5) d1 (or (not f1) (< l1 6)) (= m0 (ite f0 (mod (+ (* 2 l0) l5 1) 7) l0)) (= m1 (ite f1 (mod (+ (* 3 l1) l0 2) 9) l1)) (= m2 (ite f2 (mod (+ (* 4 l2) l1 3) 11) l2)) (= m3 (ite f3 (mod (+ (* 2 l3) l2 4) 13) l3)) (= m4 (ite f4 (mod (+ (* 3 l4) l3 5) 7) l4)) (= m5 (ite f5 (mod (+ (* 4 l5) l4 1) 9) l5))) (Lift d0 false true d3 d4 f0 f1 f2 f3 f4 f5 m0 m1 m2 m3 m4 m5))))
(assert (forall ((d0 Bool) (d1 Bool) (d2 Bool) (d3 Bool) (d4 Bool) (f0 Bool) (f1 Bool) (f2 Bool) (f3 Bool) (f4 Bool) (f5 Bool) (l0 Int) (l1 Int) (l2 Int) (l3 Int) (l4 Int) (l5 Int) (m0 Int) (m1 Int) (m2 Int) (m3 Int) (m4 Int) (m5 Int))
  (=> (and (Lift d0 d1 d2 d3 d4 f0 f1 f2 f3 f4 f5 l0 l1 l2 l3 l4 l5) d2 (or (not f2) (< l2 6)) (= m0 (ite f0 (mod (+ (* 2 l0) l5 1) 7) l0)) (= m1 (ite f1 (mod (+ (* 3 l1) l0 2) 9) l1)) (= m2 (ite f2 (mod (+ (* 4 l2) l1 3) 11) l2)) (= m3 (ite f3 (mod (+ (* 2 l3) l2 4) 13) l3)) (= m4 (ite f4 (mod (+ (* 3 l4) l3 5) 7) l4)) (= m5 (ite f5 (mod (+ (* 4 l5) l4 1) 9) l5))) (Lift d0 d1 false true d4 f0 f1 f2 f3 f4 f5 m0 m1 m2 m3 m4 m5))))
(assert (forall ((d0 Bool) (d1 Bool) (d2 Bool) (d3 Bool) (d4 Bool) (f0 Bool) (f1 Bool) (f2 Bool) (f3 Bool) (f4 Bool) (f5 Bool) (l0 Int) (l1 Int) (l2 Int) (l3 Int) (l4 Int) (l5 Int) (m0 Int) (m1 Int) (m2 Int) (m3 Int) (m4 Int) (m5 Int))
  (=> (and (Lift d0 d1 d2 d3 d4 f0 f1 f2 f3 f4 f5 l0 l1 l2 l3 l4 l5) d3 (or (not f3) (< l3 6)) (= m0 (ite f0 (mod (+ (* 2 l0) l5 1) 7) l0)) (= m1 (ite f1 (mod (+ (* 3 l1) l0 2) 9) l1)) (= m2 (ite f2 (mod (+ (* 4 l2) l1 3) 11) l2)) (= m3 (ite f3 (mod (+ (* 2 l3) l2 4) 13) l3)) (= m4 (ite f4 (mod (+ (* 3 l4) l3 5) 7) l4)) (= m5 (ite f5 (mod (+ (* 4 l5) l4 1) 9) l5))) (Lift d0 d1 d2 false true f0 f1 f2 f3 f4 f5 m0 m1 m2 m3 m4 m5))))
(assert (forall ((d0 Bool) (d1 Bool) (d2 Bool) (d3 Bool) (d4 Bool) (f0 Bool) (f1 Bool) (f2 Bool) (f3 Bool) (f4 Bool) (f5 Bool) (l0 Int) (l1 Int) (l2 Int) (l3 Int) (l4 Int) (l5 Int) (m0 Int) (m1 Int) (m2 Int) (m3 Int) (m4 Int) (m5 Int))
  (=> (and (Lift d0 d1 d2 d3 d4 f0 f1 f2 f3 f4 f5 l0 l1 l2 l3 l4 l5) d4 (or (not f4) (< l4 6)) (= m0 (ite f0 (mod (+ (* 2 l0) l5 1) 7) l0)) (= m1 (ite f1 (mod (+ (* 3 l1) l0 2) 9) l1)) (= m2 (ite f2 (mod (+ (* 4 l2) l1 3) 11) l2)) (= m3 (ite f3 (mod (+ (* 2 l3) l2 4) 13) l3)) (= m4 (ite f4 (mod (+ (* 3 l4) l3 5) 7) l4)) (= m5 (ite f5 (mod (+ (* 4 l5) l4 1) 9) l5))) (Lift true d1 d2 d3 d4 f0 f1 f2 f3 f4 f5 m0 m1 m2 m3 m4 m5))))
(assert (forall ((d0 Bool) (d1 Bool) (d2 Bool) (d3 Bool) (d4 Bool) (f0 Bool) (f1 Bool) (f2 Bool) (f3 Bool) (f4 Bool) (f5 Bool) (l0 Int) (l1 Int) (l2 Int) (l3 Int) (l4 Int) (l5 Int))
  (=> (and (Lift d0 d1 d2 d3 d4 f0 f1 f2 f3 f4 f5 l0 l1 l2 l3 l4 l5) (or (and d0 d1) (and d0 d2) (and d0 d3) (and d0 d4) (and d1 d2) (and d1 d3) (and d1 d4) (and d2 d3) (and d2 d4) (and d3 d4))) false)))
(check-sat)
