; add(x, y) = y = 0 ? x : add(x + 1, y - 1), y >= 0. assert add(x, y) = x + y
; Unsafe: at y = 3 the recursion loses one.
(set-logic HORN)

(declare-fun Add (Int Int Int) Bool)

(assert (forall ((x Int))
  (Add x 0 x)))
(assert (forall ((x Int) (y Int) (r Int))
  (=> (and (> y 0) (Add (ite (= y 3) x (+ x 1)) (- y 1) r)) (Add x y r))))
(assert (forall ((x Int) (y Int) (r Int))
  (=> (and (Add x y r) (distinct r (+ x y))) false)))

(check-sat)
