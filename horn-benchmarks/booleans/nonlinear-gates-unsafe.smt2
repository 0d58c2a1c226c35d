; Derivable circuits: from inputs 0 and 1 by and, or, not; each term keeps two outputs (f(0), f(1)); assert monotone: f(0) => f(1).
; Unsafe: the negation of the input is not.
(set-logic HORN)

(declare-fun F (Bool Bool) Bool)

(assert (F false true))
(assert (F true true))
(assert (forall ((a Bool) (b Bool) (c Bool) (d Bool))
  (=> (and (F a b) (F c d)) (F (and a c) (and b d)))))
(assert (forall ((a Bool) (b Bool) (c Bool) (d Bool))
  (=> (and (F a b) (F c d)) (F (or a c) (or b d)))))
(assert (forall ((a Bool) (b Bool))
  (=> (F a b) (F (not a) (not b)))))

(assert (forall ((a Bool) (b Bool))
  (=> (and (F a b) a (not b)) false)))

(check-sat)
