; Repeated swaps of a[i] and a[j]: the sum a[i] + a[j] stays s.
; Safe: swapping keeps the sum.
(set-logic HORN)

(declare-fun S ((Array Int Int) Int Int Int) Bool)

(assert (forall ((a (Array Int Int)) (i Int) (j Int) (s Int))
  (=> (= s (+ (select a i) (select a j))) (S a i j s))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (i Int) (j Int)
                 (s Int))
  (=> (and (S a i j s) (= b (store a i (select a j))) (= c (store b j (select a i)))) (S c i j s))))
(assert (forall ((a (Array Int Int)) (i Int) (j Int) (s Int))
  (=> (and (S a i j s) (not (= s (+ (select a i) (select a j))))) false)))

(check-sat)
