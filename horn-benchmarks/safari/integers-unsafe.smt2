; SAFARI (LPAR 2012), "integers": the program of the table that needs no array. Two counters that meet:
;   i = 0; j = n; while (i < n) { i = i+1; j = j-2; } assert (n < 0 || j = 0)
; Unsafe: j is lowered twice as fast (n = 1).
(set-logic HORN)

(declare-fun Loop (Int Int Int) Bool)
(declare-fun Exit (Int Int) Bool)

(assert (forall ((n Int))
  (Loop n 0 n)))
(assert (forall ((n Int) (i Int) (j Int))
  (=> (and (Loop n i j) (< i n)) (Loop n (+ i 1) (- j 2)))))
(assert (forall ((n Int) (i Int) (j Int))
  (=> (and (Loop n i j) (>= i n)) (Exit n j))))
(assert (forall ((n Int) (j Int))
  (=> (and (Exit n j) (>= n 0) (not (= j 0))) false)))

(check-sat)
