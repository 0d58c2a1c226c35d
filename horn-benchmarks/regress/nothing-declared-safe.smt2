; A script without declarations and assertions.
; Safe: the empty set of clauses has a model.
(set-logic HORN)
(check-sat)
