; expect: sat
; From 101 on x and y take turns, five steps each. How far x is ahead hangs on the remainder by ten, in
; each half in another way, and only from then on: an equation with a remainder in two cases at once.
(set-info :status sat)
(set-logic HORN)
(declare-fun p (Int Int Int) Bool)
(assert (p 0 0 0))
(assert (forall ((n Int) (x Int) (y Int) (x1 Int) (y1 Int))
  (=> (and (p n x y)
           (ite (or (<= n 100) (< (mod n 10) 5))
                (and (= x1 (+ x 1)) (= y1 y))
                (and (= x1 x) (= y1 (+ y 1)))))
      (p (+ n 1) x1 y1))))
(assert (forall ((n Int) (x Int) (y Int))
  (=> (and (p n x y) (> n 100) (< x (+ y 100))) false)))
(check-sat)
