; SAFARI (Alberti, Bruttomesso, Ghilardi, Ranise, Sharygina, LPAR 2012), "find (v1)", as on the slides:
;   c = 1; while (c < n && a[c] != v) c = c+1;
;   if (c >= n && exists x. 0 <= x < n && a[x] = v) error
; The x of the assertion is a variable of the query.
; Unsafe: the search starts at index 1 and misses a[0] = v (n = 1).
(set-logic HORN)

(declare-fun Loop ((Array Int Int) Int Int Int) Bool)
(declare-fun Exit ((Array Int Int) Int Int Int) Bool)

(assert (forall ((a (Array Int Int)) (n Int) (v Int))
  (Loop a n v 1)))
(assert (forall ((a (Array Int Int)) (n Int) (v Int) (c Int))
  (=> (and (Loop a n v c) (< c n) (not (= (select a c) v))) (Loop a n v (+ c 1)))))
(assert (forall ((a (Array Int Int)) (n Int) (v Int) (c Int))
  (=> (and (Loop a n v c) (>= c n)) (Exit a n v c))))
(assert (forall ((a (Array Int Int)) (n Int) (v Int) (c Int))
  (=> (and (Loop a n v c) (= (select a c) v)) (Exit a n v c))))
(assert (forall ((a (Array Int Int)) (n Int) (v Int) (c Int) (x Int))
  (=> (and (Exit a n v c) (>= c n) (<= 0 x) (< x n) (= (select a x) v)) false)))

(check-sat)
