; Two rows of a matrix share their cell k: m[p][k] = m[q][k] is kept by writing both, but the second write is left out for v = 5.
; Unsafe: v = 5.
(set-logic HORN)

(declare-fun R ((Array Int (Array Int Int)) Int Int Int) Bool)

(assert (forall ((m (Array Int (Array Int Int))) (p Int) (q Int) (k Int))
  (=> (= (select (select m p) k) (select (select m q) k)) (R m p q k))))
(assert (forall ((m (Array Int (Array Int Int))) (n (Array Int (Array Int Int)))
                 (o (Array Int (Array Int Int))) (p Int) (q Int) (k Int) (v Int))
  (=> (and (R m p q k)
           (= n (store m p (store (select m p) k v)))
           (= o (ite (= v 5) n (store n q (store (select n q) k v)))))
      (R o p q k))))
(assert (forall ((m (Array Int (Array Int Int))) (p Int) (q Int) (k Int))
  (=> (and (R m p q k) (not (= (select (select m p) k) (select (select m q) k)))) false)))

(check-sat)
