; Count the rounds of two nested loops of 3 and 4 rounds: the error is c = 12 at the end.
; Unsafe: c = 12 is reached.
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
  (=> (and (Outer i c) (>= i 3) (= c 12)) false)))

(check-sat)
