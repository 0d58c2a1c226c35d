; SAFARI (LPAR 2012), "strcmp": compare two zero-terminated strings.
;   i = 0; while (a[i] == b[i] && a[i] != 0) i++;
;   if (a[i] == b[i])   // both ended
;     assert forall x. 0 <= x <= i => a[x] = b[x]
; Safe: the strings agree below i.
(set-logic HORN)

(declare-fun Loop ((Array Int Int) (Array Int Int) Int) Bool)
(declare-fun Same ((Array Int Int) (Array Int Int) Int) Bool)

(assert (forall ((a (Array Int Int)) (b (Array Int Int)))
  (Loop a b 0)))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (i Int))
  (=> (and (Loop a b i) (= (select a i) (select b i)) (not (= (select a i) 0))) (Loop a b (+ i 1)))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (i Int))
  (=> (and (Loop a b i) (= (select a i) (select b i)) (= (select a i) 0)) (Same a b i))))
(assert (forall ((a (Array Int Int)) (b (Array Int Int)) (i Int) (x Int))
  (=> (and (Same a b i) (<= 0 x) (<= x i) (not (= (select a x) (select b x)))) false)))

(check-sat)
