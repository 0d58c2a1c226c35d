; Fixedpoint dialect: the queried relation has no rule.
; Safe (unsat).
(declare-rel a ())
(declare-rel b ())
(rule a)
(query b)
