; Syntax: declare-datatype, a constructor named like its sort, a parametric one.
; Unsafe: left may pass right.

(set-logic HORN)
(declare-datatype Span ((Span (left Int) (right Int))))
(declare-datatype Box (par (T) ((Box (content T)))))
(declare-fun P ((Box Span)) Bool)
(assert (P (Box (Span 0 1))))
(assert (forall ((b (Box Span)))
  (=> (P b) (P (Box (Span (- (left (content b)) 1) (right (content b))))))))
(assert (forall ((b (Box Span)) (d Int))
  (=> (and (P b) (> d (- 2))) (P (Box (Span (left (content b)) (+ (right (content b)) d)))))))
(assert (forall ((b (Box Span))) (=> (and (P b) (>= (left (content b)) (right (content b)))) false)))
(check-sat)
