; (Array Int Real): a cell is halved for ever; it starts at 1; assert it is positive and above 1/10.
; Unsafe: 1/16.
(set-logic HORN)

(declare-fun Ra ((Array Int Real) Int) Bool)

(assert (forall ((a (Array Int Real)) (k Int))
  (Ra (store a k 1.0) k)))
(assert (forall ((a (Array Int Real)) (k Int))
  (=> (Ra a k) (Ra (store a k (/ (select a k) 2.0)) k))))
(assert (forall ((a (Array Int Real)) (k Int))
  (=> (and (Ra a k) (<= (select a k) 0.1)) false)))

(check-sat)
