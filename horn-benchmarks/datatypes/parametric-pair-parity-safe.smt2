; A parametric pair type, used at (Pair Int Bool): the Boolean says whether the number is even.
; Safe: both are updated together.
(set-logic HORN)

(declare-datatypes ((Pair 2)) ((par (A B) ((mk (first A) (second B))))))
(declare-fun P ((Pair Int Bool)) Bool)

(assert (P (mk 0 true)))
(assert (forall ((p (Pair Int Bool)))
  (=> (P p) (P (mk (+ (first p) 1) (not (second p)))))))
(assert (forall ((p (Pair Int Bool)))
  (=> (P p) (P (mk (- (first p) 2) (second p))))))
(assert (forall ((p (Pair Int Bool)))
  (=> (and (P p) (not (= (second p) (= (mod (first p) 2) 0)))) false)))

(check-sat)
