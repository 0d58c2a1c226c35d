; for (i = 0; i < n; i++) if (i mod 2 = 0) x++; else y++;   assert x = y
; Unsafe: after one round x = 1, y = 0.
(set-logic HORN)

(declare-fun D (Int Int Int) Bool)

(assert (D 0 0 0))
(assert (forall ((i Int) (x Int) (y Int) (i1 Int) (x1 Int) (y1 Int))
  (=> (and (D i x y)
           (= i1 (+ i 1))
           (or (and (= (mod i 2) 0) (= x1 (+ x 1)) (= y1 y))
               (and (not (= (mod i 2) 0)) (= y1 (+ y 1)) (= x1 x))))
      (D i1 x1 y1))))
(assert (forall ((i Int) (x Int) (y Int))
  (=> (and (D i x y) (not (= x y))) false)))

(check-sat)
