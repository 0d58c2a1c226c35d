; Fixedpoint dialect: relations without arguments only.
; Unsafe (sat): b is a fact.

(declare-rel a ())
(declare-rel b ())
(declare-rel c ())
(declare-rel goal ())
(rule a)
(rule (=> c b))
(rule (=> b c))
(rule b)

(rule (=> (and a c) goal))
(query goal)
