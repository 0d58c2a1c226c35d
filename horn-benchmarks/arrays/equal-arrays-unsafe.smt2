; Two arrays get the same writes; assert they are equal as arrays, though the second skips writes at negative indices.
; Unsafe: a write at -1.
(set-logic HORN)

(declare-fun E ((Array Int Int) (Array Int Int)) Bool)

(assert (forall ((a (Array Int Int)))
  (E a a)))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (i Int) (v Int))
  (=> (E a b) (E (store a i v) (ite (< i 0) b (store b i v))))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)))
  (=> (and (E a b) (not (= a b))) false)))

(check-sat)
