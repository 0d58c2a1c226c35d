; Nullary predicates in a cycle p => q => r => p that nothing enters; the query is r.
; Safe: all false is a model.
(set-logic HORN)

(declare-fun p () Bool)
(declare-fun q () Bool)
(declare-fun r () Bool)
(declare-fun s () Bool)

(assert (=> p q))
(assert (=> q r))
(assert (=> r p))
(assert (=> s p))

(assert (=> r false))

(check-sat)
