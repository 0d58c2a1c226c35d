; zip of two lists, walked in parallel; the loop ends with the shorter one; assert count <= 1 when the first has
; a counted length of at most 7.
; Unsafe: two pairs.
(set-logic HORN)

(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
(declare-fun Zip (List List Int Int) Bool)

(assert (forall ((a List) (b List) (r Int))
  (=> (and (<= 0 r) (<= r 7)) (Zip a b r 0))))
(assert (forall ((a List) (b List) (x Int) (y Int) (r Int) (n Int))
  (=> (and (Zip (cons x a) (cons y b) r n) (> r 0)) (Zip a b (- r 1) (+ n 1)))))
(assert (forall ((a List) (b List) (r Int) (n Int))
  (=> (and (Zip a b r n) (> n 1)) false)))

(check-sat)
