; The control location in two Boolean arguments, as compilers that use one predicate for a whole program do:
; 00: x = 0; 01: while (x < n) x++; 10: assert x = n or n < 0; 11: stop.
; Unsafe: the loop runs while x <= n.
(set-logic HORN)

(declare-fun Main (Bool Bool Int Int) Bool)

(assert (forall ((x Int) (n Int))
  (Main false false x n)))
(assert (forall ((x Int) (n Int))
  (=> (Main false false x n) (Main false true 0 n))))
(assert (forall ((x Int) (n Int))
  (=> (and (Main false true x n) (<= x n)) (Main false true (+ x 1) n))))
(assert (forall ((x Int) (n Int))
  (=> (and (Main false true x n) (not (<= x n))) (Main true false x n))))
(assert (forall ((x Int) (n Int))
  (=> (and (Main true false x n) (or (= x n) (< n 0))) (Main true true x n))))
(assert (forall ((x Int) (n Int))
  (=> (and (Main true false x n) (not (or (= x n) (< n 0)))) false)))

(check-sat)
