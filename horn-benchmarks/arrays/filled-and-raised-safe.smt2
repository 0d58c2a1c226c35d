; The first n cells are set to 42, then each is raised by 1; each of them is 43 then.
; Safe.
(set-logic HORN)

(declare-fun Fill ((Array Int Int) Int Int) Bool)
(declare-fun Raise ((Array Int Int) Int Int) Bool)
(declare-fun Check ((Array Int Int) Int Int) Bool)

(assert (forall ((a (Array Int Int)) (n Int))
  (Fill a 0 n)))
(assert (forall ((a (Array Int Int)) (i Int) (n Int))
  (=> (and (Fill a i n) (< i n)) (Fill (store a i 42) (+ i 1) n))))
(assert (forall ((a (Array Int Int)) (i Int) (n Int))
  (=> (and (Fill a i n) (>= i n)) (Raise a 0 n))))
(assert (forall ((a (Array Int Int)) (i Int) (n Int))
  (=> (and (Raise a i n) (< i n)) (Raise (store a i (+ (select a i) 1)) (+ i 1) n))))
(assert (forall ((a (Array Int Int)) (i Int) (n Int))
  (=> (and (Raise a i n) (>= i n)) (Check a 0 n))))
(assert (forall ((a (Array Int Int)) (i Int) (n Int))
  (=> (and (Check a i n) (< i n) (= (select a i) 43)) (Check a (+ i 1) n))))
(assert (forall ((a (Array Int Int)) (i Int) (n Int))
  (=> (and (Check a i n) (< i n) (not (= (select a i) 43))) false)))

(check-sat)
