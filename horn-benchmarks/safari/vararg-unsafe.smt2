; SAFARI (LPAR 2012), "vararg": walk to the terminator of an argument list.
;   i = 0; while (a[i] != 0) i = i + 2;
;   assert forall x. 0 <= x < i => a[x] != 0
; Unsafe: every second index is skipped.
(set-logic HORN)

(declare-fun Loop ((Array Int Int) Int) Bool)
(declare-fun Exit ((Array Int Int) Int) Bool)

(assert (forall ((a (Array Int Int)))
  (Loop a 0)))
(assert (forall ((a (Array Int Int)) (i Int))
  (=> (and (Loop a i) (not (= (select a i) 0))) (Loop a (+ i 2)))))
(assert (forall ((a (Array Int Int)) (i Int))
  (=> (and (Loop a i) (= (select a i) 0)) (Exit a i))))
(assert (forall ((a (Array Int Int)) (i Int) (x Int))
  (=> (and (Exit a i) (<= 0 x) (< x i) (= (select a x) 0)) false)))

(check-sat)
