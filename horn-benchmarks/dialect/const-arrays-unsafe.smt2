; Syntax: ((as const S) v), nested, with Boolean and array elements.
; Unsafe: flag 3 is set.

(set-logic HORN)
(declare-fun P ((Array Int Bool) (Array Int (Array Int Int))) Bool)
(assert (P ((as const (Array Int Bool)) false) ((as const (Array Int (Array Int Int))) ((as const (Array Int Int)) 1))))
(assert (forall ((f (Array Int Bool)) (m (Array Int (Array Int Int))))
  (=> (P f m) (P (store f 3 true) (store m 0 (store (select m 0) 5 7))))))
(assert (forall ((f (Array Int Bool)) (m (Array Int (Array Int Int))))
  (=> (and (P f m) (or (select f 3) (not (= (select (select m 0) 4) 1)))) false)))
(check-sat)
