; Syntax: =, distinct, xor and ite on Booleans in bodies, with three arguments too.
; Safe: p is the parity of the three flags.
(set-logic HORN)
(declare-fun P (Bool Bool Bool Bool) Bool)
(assert (forall ((a Bool) (b Bool) (c Bool) (p Bool)) (=> (= p (xor a b c)) (P a b c p))))
(assert (forall ((a Bool) (b Bool) (c Bool) (p Bool) (q Bool))
  (=> (and (P a b c p) (distinct q p) (ite a b c)) (P (not a) b c q))))
(assert (forall ((a Bool) (b Bool) (c Bool) (p Bool))
  (=> (and (P a b c p) (not (= p (xor (xor a b) c)))) false)))
(check-sat)
