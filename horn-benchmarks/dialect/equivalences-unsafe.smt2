; Syntax: =, distinct, xor and ite on Booleans in bodies, with three arguments too.
; Unsafe: it is not their conjunction.

(set-logic HORN)
(declare-fun P (Bool Bool Bool Bool) Bool)
(assert (forall ((a Bool) (b Bool) (c Bool) (p Bool)) (=> (= p (xor a b c)) (P a b c p))))
(assert (forall ((a Bool) (b Bool) (c Bool) (p Bool) (q Bool))
  (=> (and (P a b c p) (distinct q p) (ite a b c)) (P (not a) b c q))))
(assert (forall ((a Bool) (b Bool) (c Bool) (p Bool))
  (=> (and (P a b c p) (not (= p (and a b c)))) false)))
(check-sat)
