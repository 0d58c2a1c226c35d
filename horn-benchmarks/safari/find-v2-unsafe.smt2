; SAFARI (LPAR 2012), "find (v2)": the result is kept in a variable.
;   r = -1; i = 0;
;   while (i < n) { if (a[i] == v) { r = i; } i = i+1; }
;   if (r = -1) assert forall x. 0 <= x < n => a[x] != v
;   else        assert a[r] = v && forall x. 0 <= x < r => a[x] != v
; Unsafe: the break is missing, so r is the last index that holds v, not the first.
(set-logic HORN)

(declare-fun Loop ((Array Int Int) Int Int Int Int) Bool)
(declare-fun Exit ((Array Int Int) Int Int Int) Bool)

(assert (forall ((a (Array Int Int)) (n Int) (v Int))
  (Loop a n v 0 (- 1))))
(assert (forall ((a (Array Int Int)) (n Int) (v Int) (i Int) (r Int))
  (=> (and (Loop a n v i r) (< i n) (not (= (select a i) v))) (Loop a n v (+ i 1) r))))
(assert (forall ((a (Array Int Int)) (n Int) (v Int) (i Int) (r Int))
  (=> (and (Loop a n v i r) (< i n) (= (select a i) v)) (Loop a n v (+ i 1) i))))
(assert (forall ((a (Array Int Int)) (n Int) (v Int) (i Int) (r Int))
  (=> (and (Loop a n v i r) (>= i n)) (Exit a n v r))))
(assert (forall ((a (Array Int Int)) (n Int) (v Int) (r Int) (x Int))
  (=> (and (Exit a n v r) (= r (- 1)) (<= 0 x) (< x n) (= (select a x) v)) false)))
(assert (forall ((a (Array Int Int)) (n Int) (v Int) (r Int))
  (=> (and (Exit a n v r) (not (= r (- 1))) (not (= (select a r) v))) false)))
(assert (forall ((a (Array Int Int)) (n Int) (v Int) (r Int) (x Int))
  (=> (and (Exit a n v r) (not (= r (- 1))) (<= 0 x) (< x r) (= (select a x) v)) false)))

(check-sat)
