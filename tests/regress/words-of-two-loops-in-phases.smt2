; expect: sat
; One loop counts up to n, one down from n, and both add 3 in each round. They end together, but for
; the greatest n, where the first does not end. Nobody but the twin had a model, whose check took
; seconds: which phase comes after which is a question of comparisons, what holds in each of sums.
(set-info :status sat)
(set-logic HORN)
(declare-fun p ((_ BitVec 32) (_ BitVec 32) (_ BitVec 32) (_ BitVec 32) (_ BitVec 32)) Bool)
(assert (forall ((n (_ BitVec 32))) (p n #x00000000 #x00000000 n #x00000000)))
(assert (forall ((n (_ BitVec 32)) (i (_ BitVec 32)) (s (_ BitVec 32)) (j (_ BitVec 32)) (r (_ BitVec 32)))
  (=> (and (p n i s j r) (bvsle i n) (bvsge j #x00000000))
      (p n (bvadd i #x00000001) (bvadd s #x00000003) (bvsub j #x00000001) (bvadd r #x00000003)))))
(assert (forall ((n (_ BitVec 32)) (i (_ BitVec 32)) (s (_ BitVec 32)) (j (_ BitVec 32)) (r (_ BitVec 32)))
  (=> (and (p n i s j r) (bvsle i n) (not (bvsge j #x00000000)))
      (p n (bvadd i #x00000001) (bvadd s #x00000003) j r))))
(assert (forall ((n (_ BitVec 32)) (i (_ BitVec 32)) (s (_ BitVec 32)) (j (_ BitVec 32)) (r (_ BitVec 32)))
  (=> (and (p n i s j r) (not (bvsle i n)) (bvsge j #x00000000))
      (p n i s (bvsub j #x00000001) (bvadd r #x00000003)))))
(assert (forall ((n (_ BitVec 32)) (i (_ BitVec 32)) (s (_ BitVec 32)) (j (_ BitVec 32)) (r (_ BitVec 32)))
  (=> (and (p n i s j r) (not (bvsle i n)) (not (bvsge j #x00000000)))
      (= s r))))
(check-sat)
