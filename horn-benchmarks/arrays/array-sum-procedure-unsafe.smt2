; A procedure with a summary over memory before and after: touch(i) writes cell i only.
; main: m[1] = 3; touch(2), touch(3), ...; assert m[1] = 3.
; Unsafe: touch also clears the cell before.
(set-logic HORN)

(declare-fun Touch ((Array Int Int) Int (Array Int Int)) Bool)
(declare-fun Main ((Array Int Int) Int) Bool)

(assert (forall ((m (Array Int Int)) (i Int) (v Int))
  (Touch m i (store (store m (- i 1) 0) i v))))
(assert (forall ((m (Array Int Int)))
  (Main (store m 1 3) 2)))
(assert (forall ((m (Array Int Int)) (n (Array Int Int)) (i Int))
  (=> (and (Main m i) (Touch m i n)) (Main n (+ i 1)))))
(assert (forall ((m (Array Int Int)) (i Int))
  (=> (and (Main m i) (not (= (select m 1) 3))) false)))

(check-sat)
