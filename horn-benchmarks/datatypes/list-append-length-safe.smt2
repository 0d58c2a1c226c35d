; length(append(a, b)) = length(a) + length(b).
; Safe: by induction over a.
(set-logic HORN)

(declare-datatypes ((IntList 0)) (((nil) (cons (head Int) (tail IntList)))))
(declare-fun App (IntList IntList IntList) Bool)
(declare-fun Len (IntList Int) Bool)

(assert (forall ((b IntList))
  (App nil b b)))
(assert (forall ((x Int) (a IntList) (b IntList) (c IntList))
  (=> (App a b c) (App (cons x a) b (cons x c)))))
(assert (Len nil 0))
(assert (forall ((x Int) (n Int) (l IntList))
  (=> (Len l n) (Len (cons x l) (+ n 1)))))
(assert (forall ((a IntList) (b IntList) (c IntList) (m Int) (n Int) (k Int))
  (=> (and (App a b c) (Len a m) (Len b n) (Len c k) (not (= k (+ m n 0)))) false)))

(check-sat)
