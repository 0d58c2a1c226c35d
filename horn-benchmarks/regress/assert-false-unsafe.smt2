; The assertion false, beside a harmless clause.
; Unsafe.
(set-logic HORN)
(declare-fun P () Bool)
(assert P)
(assert false)
(check-sat)
