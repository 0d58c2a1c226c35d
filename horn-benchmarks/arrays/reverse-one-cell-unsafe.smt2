; for (i = 0; i < n; i++) b[n-1-i] = a[i], watched at one index k: assert k < i => b[n-1-k] = a[k].
; Unsafe: b[n-i] is written.
(set-logic HORN)

(declare-fun Rev ((Array Int Int) (Array Int Int) Int Int Int) Bool)

(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (k Int))
  (=> (and (<= 0 k) (< k n)) (Rev a b n k 0))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (n Int) (k Int)
                 (i Int))
  (=> (and (Rev a b n k i) (< i n) (= c (store b (- n 0 i) (select a i)))) (Rev a c n k (+ i 1)))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (k Int) (i Int))
  (=> (and (Rev a b n k i) (< k i) (not (= (select b (- n 1 k)) (select a k)))) false)))

(check-sat)
