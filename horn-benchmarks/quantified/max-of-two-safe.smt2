; c[i] is the greater one of a[i] and b[i].
; Safe: c[k] is at least a[k] and at least b[k] for all k below n.
(set-logic HORN)
(declare-fun L ((Array Int Int) (Array Int Int) (Array Int Int) Int Int) Bool)
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (n Int))
  (=> (> n 0) (L a b c n 0))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (n Int) (i Int))
  (=> (and (L a b c n i) (< i n) (> (select a i) (select b i))) (L a b (store c i (select a i)) n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (n Int) (i Int))
  (=> (and (L a b c n i) (< i n) (<= (select a i) (select b i))) (L a b (store c i (select b i)) n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (n Int) (i Int) (k Int))
  (=> (and (L a b c n i) (>= i n) (<= 0 k) (< k n) (or (< (select c k) (select a k)) (< (select c k) (select b k)))) false)))
(check-sat)
