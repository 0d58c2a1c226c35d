; VINTA (Albarghouthi, Gurfinkel, Chechik, SAS 2012), Fig. 2(a):
;   1  x = 0; y = 0
;   2  while (nd()) {
;        if (nd())      { x = x+1; y = y+100; }
;        else if (nd()) { if (x >= 4) { x = x+1; y = y+1; } }
;      }
;   3  if (x >= 4 && y <= 400) error
; One predicate for the loop head.
; Unsafe: the assertion was tightened; x = 4, y = 400 after four rounds.
(set-logic HORN)

(declare-fun Head (Int Int) Bool)

(assert (Head 0 0))
(assert (forall ((x Int) (y Int) (x1 Int) (y1 Int))
  (=> (and (Head x y)
           (or (and (= x1 (+ x 1)) (= y1 (+ y 100)))
               (and (>= x 4) (= x1 (+ x 1)) (= y1 (+ y 1)))
               (and (= x1 x) (= y1 y))))
      (Head x1 y1))))
(assert (forall ((x Int) (y Int))
  (=> (and (Head x y) (>= x 4) (<= y 400)) false)))

(check-sat)
