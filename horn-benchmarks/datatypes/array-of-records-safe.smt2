; An array of records: cell k holds (1, true); the others are cleared; assert the flag of cell k.
; Safe: only other cells are cleared.
(set-logic HORN)

(declare-datatypes ((Cell 0)) (((cell (amount Int) (flag Bool)))))
(declare-fun H ((Array Int Cell) Int) Bool)

(assert (forall ((h (Array Int Cell)) (k Int))
  (H (store h k (cell 1 true)) k)))
(assert (forall ((h (Array Int Cell)) (k Int) (i Int))
  (=> (and (H h k) (not (= i k))) (H (store h i (cell 0 false)) k))))
(assert (forall ((h (Array Int Cell)) (k Int))
  (=> (H h k) (H (store h k (cell (+ (amount (select h k)) 1) (flag (select h k)))) k))))
(assert (forall ((h (Array Int Cell)) (k Int))
  (=> (and (H h k) (or (not (flag (select h k))) (< (amount (select h k)) 1))) false)))

(check-sat)
