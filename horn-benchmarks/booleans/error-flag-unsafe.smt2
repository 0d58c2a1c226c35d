; A procedure with an error flag passed in and out, as SeaHorn's encoding of asserts in procedures: once set it stays.
;   f(x): assert x >= 0;  main: x = nd() with x > 0; f(x); f(x - 2);
; Unsafe: x = 1.
; f ok error-in error-out x
(set-logic HORN)

(declare-fun f (Bool Bool Bool Int) Bool)
(declare-fun main (Bool) Bool)

(assert (forall ((x Int))
  (f false true true x)))
(assert (forall ((x Int))
  (f false false false x)))
(assert (forall ((e Bool) (x Int))
  (f true true true x)))
(assert (forall ((x Int) (o Bool))
  (=> (= o (< x 0)) (f true false o x))))
(assert (forall ((x Int) (e Bool) (d Bool))
  (=> (and (> x 0) (f true false e x) (f true e d (- x 2))) (main d))))
(assert (=> (main true) false))

(check-sat)
