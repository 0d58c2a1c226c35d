; A stack (array and top): push any positive value, pop; a call pushes 1 at the frame base, which is never popped.
; assert s[base] = 1
; Unsafe: the base may be popped and overwritten.
(set-logic HORN)

(declare-fun St ((Array Int Int) Int Int) Bool)

(assert (forall ((s (Array Int Int)) (b Int))
  (St (store s b 1) (+ b 1) b)))
(assert (forall ((s (Array Int Int)) (t Int) (b Int) (v Int))
  (=> (and (St s t b) (> v 0)) (St (store s t v) (+ t 1) b))))
(assert (forall ((s (Array Int Int)) (t Int) (b Int))
  (=> (and (St s t b) (> t b)) (St s (- t 1) b))))
(assert (forall ((s (Array Int Int)) (t Int) (b Int))
  (=> (and (St s t b) (not (= (select s b) 1))) false)))

(check-sat)
