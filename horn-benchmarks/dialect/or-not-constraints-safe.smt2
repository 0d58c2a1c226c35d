; Syntax: or, not, => and = (as equivalence) around constraints in bodies.
; Safe: the body of the last clause is contradictory for reachable values.
(set-logic HORN)
(declare-fun P (Int Bool) Bool)
(assert (forall ((x Int) (b Bool)) (=> (and (or (= x 0) (= x 1)) (= b (not (= x 0)))) (P x b))))
(assert (forall ((x Int) (b Bool) (c Bool))
  (=> (and (P x b) (not (or (not (< x 5)) (not (=> b (> x 0))))) (= c (or b (> x 2)))) (P (+ x 1) c))))
(assert (forall ((x Int) (b Bool)) (=> (and (P x b) (not (and (=> (> x 3) b) (or (>= x 0) b) true))) false)))
(check-sat)
