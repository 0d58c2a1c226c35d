; Count the rounds of two nested loops of 3 and 4 rounds: assert c = 12 at the end.
; Safe: c = 4i at the outer head, c = 4i + j at the inner one.
(set-logic HORN)

(declare-fun Outer (Int Int) Bool)
(declare-fun Inner (Int Int Int) Bool)

(assert (Outer 0 0))
(assert (forall ((i Int) (c Int))
  (=> (and (Outer i c) (< i 3)) (Inner i 0 c))))
(assert (forall ((i Int) (j Int) (c Int))
  (=> (and (Inner i j c) (< j 4)) (Inner i (+ j 1) (+ c 1)))))
(assert (forall ((i Int) (j Int) (c Int))
  (=> (and (Inner i j c) (= j 4)) (Outer (+ i 1) c))))
(assert (forall ((i Int) (c Int))
  (=> (and (Outer i c) (>= i 3) (distinct c 12)) false)))

(check-sat)
