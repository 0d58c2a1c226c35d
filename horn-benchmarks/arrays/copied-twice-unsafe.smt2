; The first n cells of a are copied to b, then those of b to c; c is compared with a.
; Unsafe: the second loop leaves the last cell out.
(set-logic HORN)

(declare-fun First ((Array Int Int) (Array Int Int) (Array Int Int) Int Int) Bool)
(declare-fun Second ((Array Int Int) (Array Int Int) (Array Int Int) Int Int) Bool)
(declare-fun Compare ((Array Int Int) (Array Int Int) Int Int) Bool)

(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (n Int))
  (First a b c 0 n)))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (i Int) (n Int))
  (=> (and (First a b c i n) (< i n)) (First a (store b i (select a i)) c (+ i 1) n))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (i Int) (n Int))
  (=> (and (First a b c i n) (>= i n)) (Second a b c 0 n))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (i Int) (n Int))
  (=> (and (Second a b c i n) (< i (- n 1))) (Second a b (store c i (select b i)) (+ i 1) n))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (i Int) (n Int))
  (=> (and (Second a b c i n) (>= i (- n 1))) (Compare a c 0 n))))
(assert (forall ((a (Array Int Int)) (c (Array Int Int)) (i Int) (n Int))
  (=> (and (Compare a c i n) (< i n) (= (select a i) (select c i))) (Compare a c (+ i 1) n))))
(assert (forall ((a (Array Int Int)) (c (Array Int Int)) (i Int) (n Int))
  (=> (and (Compare a c i n) (< i n) (not (= (select a i) (select c i)))) false)))

(check-sat)
