; b becomes a backwards: b[i] = a[n - 1 - i] for i from 0 to n - 1.
; Unsafe: the first element is left out.
(set-logic HORN)
(declare-fun L ((Array Int Int) (Array Int Int) Int Int) Bool)
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int))
  (=> (> n 0) (L a b n 1))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (i Int))
  (=> (and (L a b n i) (< i n)) (L a (store b i (select a (- (- n 1) i))) n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (i Int) (k Int))
  (=> (and (L a b n i) (>= i n) (<= 0 k) (< k n) (not (= (select b k) (select a (- (- n 1) k))))) false)))
(check-sat)
