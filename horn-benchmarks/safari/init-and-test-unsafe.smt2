; SAFARI (LPAR 2012), "init and test": one loop initializes, a second one tests.
;   for (i = 1; i < n; i++) a[i] = 0;
;   for (i = 0; i < n; i++) if (a[i] != 0) error;
; Unsafe: the first loop starts at index 1.
(set-logic HORN)

(declare-fun Init ((Array Int Int) Int Int) Bool)
(declare-fun Test ((Array Int Int) Int Int) Bool)

(assert (forall ((a (Array Int Int)) (n Int))
  (Init a n 1)))
(assert (forall ((a (Array Int Int)) (n Int) (i Int))
  (=> (and (Init a n i) (< i n)) (Init (store a i 0) n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int))
  (=> (and (Init a n i) (>= i n)) (Test a n 0))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int))
  (=> (and (Test a n i) (< i n) (= (select a i) 0)) (Test a n (+ i 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (i Int))
  (=> (and (Test a n i) (< i n) (not (= (select a i) 0))) false)))

(check-sat)
