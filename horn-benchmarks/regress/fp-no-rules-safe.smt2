; Fixedpoint dialect: two relations, no rule at all.
; Safe (unsat): nothing is derivable.
(declare-rel p (Int))
(declare-rel q ())
(query q)
