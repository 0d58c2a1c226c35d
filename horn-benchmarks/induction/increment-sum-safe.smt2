; Functions as relations, results first: sum (inc x) = sum x + len x.
; Safe: by induction on x.
(set-logic HORN)

(declare-datatypes ((Lst 0)) (((nil) (cons (head Int) (tail Lst)))))
(declare-fun inc (Lst Lst) Bool)
(declare-fun sum (Int Lst) Bool)
(declare-fun len (Int Lst) Bool)

(assert (inc nil nil))
(assert (forall ((o Lst) (x Lst) (h Int)) (=> (inc o x) (inc (cons (+ h 1) o) (cons h x)))))
(assert (sum 0 nil))
(assert (forall ((n Int) (x Lst) (h Int)) (=> (sum n x) (sum (+ n h) (cons h x)))))
(assert (len 0 nil))
(assert (forall ((n Int) (x Lst) (h Int)) (=> (len n x) (len (+ n 1) (cons h x)))))

(assert (forall ((x Lst) (a Lst) (i Int) (j Int) (k Int)) (=> (and (inc a x) (sum i a) (sum j x) (len k x) (not (= i (+ j k)))) false)))

(check-sat)
