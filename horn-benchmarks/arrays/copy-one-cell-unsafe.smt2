; for (i = 0; i < n; i++) b[i] = a[i], watched at one index k that never changes: assert 0 <= k < i => b[k] = a[k].
; The index k is an argument of the predicate, so the invariant needs no quantifier.
; Unsafe: the loop starts at 1 (k = 0).
(set-logic HORN)

(declare-fun Copy ((Array Int Int) (Array Int Int) Int Int Int) Bool)

(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (k Int))
  (=> (<= 0 k) (Copy a b n k 1))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (k Int) (i Int))
  (=> (and (Copy a b n k i) (< i n)) (Copy a (store b i (select a i)) n k (+ i 1)))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int) (k Int) (i Int))
  (=> (and (Copy a b n k i) (< k i) (not (= (select a k) (select b k)))) false)))

(check-sat)
