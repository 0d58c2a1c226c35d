; Nullary predicates in a cycle p => q => r => p entered by s; the query is r.
; Unsafe: s, p, q, r.
(set-logic HORN)

(declare-fun p () Bool)
(declare-fun q () Bool)
(declare-fun r () Bool)
(declare-fun s () Bool)

(assert (=> p q))
(assert (=> q r))
(assert (=> r p))
(assert (=> s p))
(assert s)

(assert (=> r false))

(check-sat)
