; The first n cells of two arrays are swapped, and swapped again; the first array is as it was.
; Unsafe: the second time the first cell is left out.
(set-logic HORN)

(declare-fun Once ((Array Int Int) (Array Int Int) (Array Int Int) (Array Int Int) Int Int) Bool)
(declare-fun Again ((Array Int Int) (Array Int Int) (Array Int Int) (Array Int Int) Int Int) Bool)
(declare-fun Compare ((Array Int Int) (Array Int Int) Int Int) Bool)

(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (n Int))
  (Once a b a b 0 n)))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (d (Array Int Int)) (i Int) (n Int))
  (=> (and (Once a b c d i n) (< i n))
      (Once (store a i (select b i)) (store b i (select a i)) c d (+ i 1) n))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (d (Array Int Int)) (i Int) (n Int))
  (=> (and (Once a b c d i n) (>= i n)) (Again a b c d 1 n))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (d (Array Int Int)) (i Int) (n Int))
  (=> (and (Again a b c d i n) (< i n))
      (Again (store a i (select b i)) (store b i (select a i)) c d (+ i 1) n))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (c (Array Int Int)) (d (Array Int Int)) (i Int) (n Int))
  (=> (and (Again a b c d i n) (>= i n)) (Compare a c 0 n))))
(assert (forall ((a (Array Int Int)) (c (Array Int Int)) (i Int) (n Int))
  (=> (and (Compare a c i n) (< i n) (= (select a i) (select c i))) (Compare a c (+ i 1) n))))
(assert (forall ((a (Array Int Int)) (c (Array Int Int)) (i Int) (n Int))
  (=> (and (Compare a c i n) (< i n) (not (= (select a i) (select c i)))) false)))

(check-sat)
