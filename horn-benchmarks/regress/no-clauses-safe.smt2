; Nothing is asserted at all.
; Safe: any interpretation is a model.
(set-logic HORN)
(declare-fun P (Int) Bool)
(check-sat)
