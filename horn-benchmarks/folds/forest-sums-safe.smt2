; Trees with forests as branches, a mutually recursive datatype: each weight is increased; assert that
; the sum of all weights is larger then.
; Safe: by the number of trees and the sum of weights.
(set-logic HORN)

(declare-datatypes ((Rose 0) (Forest 0))
  (((rose (weight Int) (children Forest))) ((empty) (grow (tree Rose) (trees Forest)))))
(declare-fun more (Rose Rose) Bool)
(declare-fun mores (Forest Forest) Bool)
(declare-fun sum (Rose Int) Bool)
(declare-fun sums (Forest Int) Bool)

(assert (forall ((w Int) (f Forest) (g Forest))
  (=> (mores f g) (more (rose w f) (rose (+ w 1) g)))))
(assert (mores empty empty))
(assert (forall ((t Rose) (u Rose) (f Forest) (g Forest))
  (=> (and (more t u) (mores f g)) (mores (grow t f) (grow u g)))))
(assert (forall ((w Int) (f Forest) (n Int))
  (=> (sums f n) (sum (rose w f) (+ w n)))))
(assert (sums empty 0))
(assert (forall ((t Rose) (f Forest) (n Int) (m Int))
  (=> (and (sum t n) (sums f m)) (sums (grow t f) (+ n m)))))
(assert (forall ((t Rose) (u Rose) (n Int) (m Int))
  (=> (and (more t u) (sum t n) (sum u m) (>= n m)) false)))

(check-sat)
