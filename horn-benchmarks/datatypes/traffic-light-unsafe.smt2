; An enumeration: green, yellow, red, red-yellow. Two lights at a crossing; assert they are never both green.
; Unsafe: red-yellow does not look at the other light, red only asks the other not to be green.
(set-logic HORN)

(declare-datatypes ((Light 0)) (((green) (yellow) (red) (redyellow))))
(declare-fun X (Light Light) Bool)

(assert (X red red))
(assert (forall ((a Light) (b Light))
  (=> (X a b) (X b a))))
(assert (forall ((b Light))
  (=> (X green b) (X yellow b))))
(assert (forall ((b Light))
  (=> (X yellow b) (X red b))))
(assert (forall ((b Light))
  (=> (and (X red b) (distinct b green)) (X redyellow b))))
(assert (forall ((b Light))
  (=> (X redyellow b) (X green b))))
(assert (forall ((a Light) (b Light))
  (=> (and (X a b) (= a green) (= b green)) false)))

(check-sat)
