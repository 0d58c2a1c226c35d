; Fixedpoint dialect: a procedure with error flags, as SeaHorn summarizes functions; nonlinear rules.
;   f(x) { assert x >= 0; return x - 1; }  main: x = 8; while (x > 0 && nd()) x = f(x); y = f(x); f(y);
; Unsafe (sat): x = 0, y = -1.

(declare-rel f (Bool Bool Bool Int Int))
(declare-rel main (Int))
(declare-rel main@error ())
(declare-var x Int)
(declare-var y Int)
(declare-var z Int)
(declare-var e Bool)
(declare-var d Bool)
(rule (f true true true x y))
(rule (f false true true x y))
(rule (f false false false x y))
(rule (=> (and (= y (- x 1)) (= e (< x 0))) (f true false e x y)))
(rule (main 8))
(rule (let ((a!1 (and (main x) (> x 0) (f true false false x y)))) (=> a!1 (main y))))
(rule (let ((a!1 (and (main x) (f true false e x y) (f true e d y z) d))) (=> a!1 main@error)))
(query main@error)
