; expect: unsat
; A reached fact may have a higher derivation than a frame's lemmas allow: with these lemmas in force
; for it, pdr asked for the same obligation forever.
(set-logic HORN)
(declare-fun A (Int) Bool)
(declare-fun B (Int) Bool)
(declare-fun C (Int Int) Bool)
(assert (A 0))
(assert (forall ((x Int)) (=> (and (A x) (< x 8)) (A (+ x 1)))))
(assert (B 0))
(assert (forall ((x Int)) (=> (and (B x) (< x 6)) (B (+ x 2)))))
(assert (forall ((x Int) (y Int)) (=> (and (A x) (B y)) (C x y))))
(assert (forall ((x Int) (y Int)) (=> (and (C x y) (C y x) (= x 6)) false)))
(check-sat)
