; A constant array of zeros with one cell set: reading elsewhere yields 0; the reader may hit the cell.
; Unsafe: the index read may be the one written.
(set-logic HORN)

(declare-fun Z ((Array Int Int) Int) Bool)

(assert (forall ((i Int) (v Int))
  (Z (store ((as const (Array Int Int)) 0) i v) i)))
(assert (forall ((a (Array Int Int)) (i Int) (w Int))
  (=> (Z a i) (Z (store a i w) i))))
(assert (forall ((a (Array Int Int)) (i Int) (k Int))
  (=> (and (Z a i) (>= k i) (not (= (select a k) 0))) false)))

(check-sat)
