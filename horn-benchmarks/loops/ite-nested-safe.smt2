; Nested ite: the median of three is kept between the smallest and the largest.
; The median is computed, then a is lowered and c raised by d and it is computed again; it never exceeds two of
; the three.
; Safe: by the definition of the median.
(set-logic HORN)

(declare-fun Med (Int Int Int Int) Bool)

(assert (forall ((a Int) (b Int) (c Int))
  (Med a b c (ite (<= a b) (ite (<= b c) b (ite (<= a c) c a)) (ite (<= a c) a (ite (<= b c) c b))))))
(assert (forall ((a Int) (b Int) (c Int) (m Int) (d Int))
  (=> (and (Med a b c m) (>= d 0))
      (Med (- a d)
           b
           (+ c d)
           (ite (< b (- a d))
                (ite (< (- a d) (+ c d)) (- a d) (ite (< b (+ c d)) (+ c d) b))
                (ite (< b (+ c d)) b (ite (< (- a d) (+ c d)) (+ c d) (- a d))))))))
(assert (forall ((a Int) (b Int) (c Int) (m Int))
  (=> (and (Med a b c m) (or (and (> m a) (> m b)) (and (> m a) (> m c)) (and (> m b) (> m c))))
      false)))

(check-sat)
