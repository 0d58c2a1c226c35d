; Functions as relations, results first: x <= y and y <= z give x <= z, where the order is a test.
; Unsafe: the twin says that all are in order, which fails for small values.
(set-logic HORN)

(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-fun le (Nat Nat) Bool)

(assert (forall ((y Nat)) (le zero y)))
(assert (forall ((x Nat) (y Nat)) (=> (le x y) (le (succ x) (succ y)))))

(assert (forall ((x Nat) (y Nat)) (=> (and (le x y) (le (succ x) y)) false)))

(check-sat)
