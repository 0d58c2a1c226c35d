; Fixedpoint dialect: relations without arguments only.
; Safe (unsat): c needs b, b needs c.
(declare-rel a ())
(declare-rel b ())
(declare-rel c ())
(declare-rel goal ())
(rule a)
(rule (=> c b))
(rule (=> b c))
; no fact for b
(rule (=> (and a c) goal))
(query goal)
