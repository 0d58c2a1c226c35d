; A loop counter kept in a[k]: a[k] = 0; while (a[k] < 5) a[k]++; assert a[k] = 4
; Unsafe: five rounds.
(set-logic HORN)

(declare-fun L ((Array Int Int) Int) Bool)

(assert (forall ((a (Array Int Int)) (a1 (Array Int Int)) (k Int))
  (=> (= a1 (store a k 0)) (L a1 k))))
(assert (forall ((a (Array Int Int)) (a1 (Array Int Int)) (k Int))
  (=> (and (L a k) (< (select a k) 5) (= a1 (store a k (+ (select a k) 1)))) (L a1 k))))
(assert (forall ((a (Array Int Int)) (k Int))
  (=> (and (L a k) (>= (select a k) 5) (not (= (select a k) 4))) false)))

(check-sat)
