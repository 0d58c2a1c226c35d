; Two counters raised in turn, never more than one apart: turn 0 raises a, turn 1 raises b.
; Unsafe: a turn may be skipped.
(set-logic HORN)

(declare-fun Turn (Int Int Int) Bool)

(assert (Turn 0 0 0))
(assert (forall ((t Int) (a Int) (b Int))
  (=> (and (Turn t a b) (= t 0)) (Turn 1 (+ a 1) b))))
(assert (forall ((t Int) (a Int) (b Int))
  (=> (and (Turn t a b) (= t 1)) (Turn 0 a (+ b 1)))))
(assert (forall ((t Int) (a Int) (b Int))
  (=> (and (Turn t a b) (= t 1)) (Turn 0 a b))))

(assert (forall ((t Int) (a Int) (b Int))
  (=> (and (Turn t a b) (> (- a b) 1)) false)))
(assert (forall ((t Int) (a Int) (b Int))
  (=> (and (Turn t a b) (< a b)) false)))

(check-sat)
