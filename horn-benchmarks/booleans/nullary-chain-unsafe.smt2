; Nullary predicates: a => b => c, d => e; the query is c.
; Unsafe: a, b, c.
(set-logic HORN)

(declare-fun a () Bool)
(declare-fun b () Bool)
(declare-fun c () Bool)
(declare-fun d () Bool)
(declare-fun e () Bool)

(assert a)
(assert (=> a b))
(assert (=> b c))
(assert (=> d e))
(assert (=> c false))

(check-sat)
