; A parametric pair type, used at (Pair Int Bool): the Boolean says whether the number is positive.
; Unsafe: a step down by 2 keeps the flag.
(set-logic HORN)

(declare-datatypes ((Pair 2)) ((par (A B) ((mk (first A) (second B))))))
(declare-fun P ((Pair Int Bool)) Bool)

(assert (P (mk 0 false)))
(assert (forall ((p (Pair Int Bool)))
  (=> (P p) (P (mk (+ (first p) 1) (>= (first p) 0))))))
(assert (forall ((p (Pair Int Bool)))
  (=> (P p) (P (mk (- (first p) 2) (second p))))))
(assert (forall ((p (Pair Int Bool)))
  (=> (and (P p) (not (= (second p) (> (first p) 0)))) false)))

(check-sat)
