; expect: sat
; Once p is resolved away, only a constraint is left; its quantifier kept pdr away, and bounded search
; had no model to show although none was needed.
(set-logic HORN)
(declare-fun p ((Array Int Int)) Bool)
(assert (forall ((a (Array Int Int))) (=> (forall ((i Int)) (= (select a i) 0)) (p a))))
(assert (forall ((a (Array Int Int))) (=> (and (p a) (not (= (select a 3) 0))) false)))
(check-sat)
