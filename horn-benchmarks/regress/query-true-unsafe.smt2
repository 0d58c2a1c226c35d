; Only the query true => false.
; Unsafe: it needs nothing.
(set-logic HORN)
(assert (=> true false))
(check-sat)
