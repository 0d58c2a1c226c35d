; A real clock t and a value v whose rate is between 1 and 2: steps of any length d > 0; assert t <= v <= 2t
; Safe: t <= v <= 2t.
(set-logic HORN)

(declare-fun R (Real Real) Bool)

(assert (forall ((t Real) (v Real))
  (=> (and (= t 0.0) (= v t)) (R t v))))
(assert (forall ((t Real) (v Real) (t1 Real) (v1 Real) (d Real))
  (=> (and (R t v) (> d 0.0) (= t1 (+ t d)) (<= (+ v d) v1) (<= v1 (+ v (* 2.0 d)))) (R t1 v1))))
(assert (forall ((t Real) (v Real))
  (=> (and (R t v) (not (and (<= t v) (<= v (* 2.0 t))))) false)))

(check-sat)
