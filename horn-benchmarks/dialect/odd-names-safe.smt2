; Syntax: simple symbols with the characters @ % . ! ~ ^ & * _ - + = < > ? / $ (and #, quoted), and names that look like operators.
; Safe: %v.0 stays non-negative.
(set-logic HORN)
(declare-fun main@%loop.body (Int) Bool)
(declare-fun |f#1!0~x| (Int Int) Bool)
(declare-fun <=> (Int) Bool)
(declare-fun bvfoo$? (Int) Bool)
(assert (forall ((%v.0 Int)) (=> (>= %v.0 0) (main@%loop.body %v.0))))
(assert (forall ((@x Int) (y& Int)) (=> (and (main@%loop.body @x) (= y& (+ @x 1))) (|f#1!0~x| @x y&))))
(assert (forall ((_a Int) (-b^ Int)) (=> (|f#1!0~x| _a -b^) (<=> -b^))))
(assert (forall ((x/y Int)) (=> (<=> x/y) (bvfoo$? x/y))))
(assert (forall ((*p Int)) (=> (and (bvfoo$? *p) (< *p 0)) false)))
(check-sat)
