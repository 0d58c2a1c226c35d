; Fixedpoint dialect: the queried relation is a fact.
; Unsafe (sat).

(declare-rel p ())
(declare-rel q ())
(rule q)
(query q)
