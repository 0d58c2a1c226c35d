; Transfers between two accounts in an array keyed by account number; assert a[x] + a[y] = 100, x != y.
; Safe: the sum is kept.
(set-logic HORN)

(declare-fun Bk ((Array Int Int) Int Int) Bool)

(assert (forall ((a (Array Int Int)) (x Int) (y Int))
  (=> (not (= x y)) (Bk (store (store a x 60) y 40) x y))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (x Int) (y Int)
                 (v Int) (f Int) (t Int))
  (=> (and (Bk a x y)
           (or (and (= f x) (= t y)) (and (= f y) (= t x)) false)
           (= b (store a f (- (select a f) v)))
           (= c (store b t (+ (select b t) v))))
      (Bk c x y))))
(assert (forall ((a (Array Int Int)) (x Int) (y Int))
  (=> (and (Bk a x y) (not (= 100 (+ (select a x) (select a y))))) false)))

(check-sat)
