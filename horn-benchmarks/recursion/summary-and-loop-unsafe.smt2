; A main loop that calls a recursive procedure: inc(x) is x + 1 through a recursion of nd() calls;
;   x = 0; while (nd()) x = inc(x); assert x >= 0 and x != 4
; Unsafe: four rounds.
(set-logic HORN)

(declare-fun Inc (Int Int) Bool)
(declare-fun Main (Int) Bool)

(assert (forall ((x Int))
  (Inc x (+ x 1))))
(assert (forall ((x Int) (r Int))
  (=> (Inc (- x 1) r) (Inc x (+ r 1)))))
(assert (Main 0))
(assert (forall ((x Int) (r Int))
  (=> (and (Main x) (Inc x r)) (Main r))))
(assert (forall ((x Int))
  (=> (and (Main x) (= x 4)) false)))

(check-sat)
