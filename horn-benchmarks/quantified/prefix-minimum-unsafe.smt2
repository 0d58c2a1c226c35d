; b[i] is the least of a[0] to a[i].
; Unsafe: b[i] is the smaller one of a[i] and a[i - 1] only.
(set-logic HORN)
(declare-fun L ((Array Int Int) (Array Int Int) Int Int) Bool)
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int))
  (=> (> n 0) (L a (store b 0 (select a 0)) n 1))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (i Int))
  (=> (and (L a b n i) (< i n)) (L a (store b i (ite (< (select a i) (select a (- i 1))) (select a i) (select a (- i 1)))) n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (i Int) (j Int) (k Int))
  (=> (and (L a b n i) (>= i n) (<= 0 j) (<= j k) (< k n) (> (select b k) (select a j))) false)))
(check-sat)
