; Writes to different cells commute: {i, j} written in both orders give equal arrays when i != j, not when i = j.
; Unsafe: i = j and different values.
(set-logic HORN)

(declare-fun W ((Array Int Int) (Array Int Int)) Bool)

(assert (forall ((a (Array Int Int)) (i Int) (j Int) (u Int) (v Int))
  (=> (<= i j) (W (store (store a i u) j v) (store (store a j v) i u)))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)))
  (=> (and (W a b) (distinct a b)) false)))

(check-sat)
