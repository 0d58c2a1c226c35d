; Fixedpoint dialect: the queried relation follows from one without a rule.
; Safe (unsat).
(declare-rel p ())
(declare-rel q ())
(rule (=> p q))
(query q)
