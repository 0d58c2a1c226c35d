; A record that holds an array and its length (as compilers of contracts write them): push appends, pop removes.
; assert length >= 0
; Unsafe: pop is not guarded.
(set-logic HORN)

(declare-datatypes ((Vec 0)) (((vec (data (Array Int Int)) (length Int)))))
(declare-fun V (Vec) Bool)

(assert (V (vec ((as const (Array Int Int)) 0) 0)))
(assert (forall ((v Vec) (x Int))
  (=> (V v) (V (vec (store (data v) (length v) x) (+ (length v) 1))))))
(assert (forall ((v Vec))
  (=> (V v) (V (vec (data v) (- (length v) 1))))))
(assert (forall ((v Vec))
  (=> (and (V v) (< (length v) 0)) false)))

(check-sat)
