; expect: sat
; The check of the model blasted words of 256 bits, which the model only passes on.
(set-logic HORN)
(set-info :status sat)
(declare-fun P (Int Int Int (Array Int Int)) Bool)
(declare-fun Q (Int Int Int (Array Int Int)) Bool)
(declare-fun R (Int Int Int (Array Int Int)) Bool)
(assert (forall ((a Int) (b Int) (r Int) (m (Array Int Int)))
  (=> (and (<= 0 a 115792089237316195423570985008687907853269984665640564039457584007913129639935)
           (= b (select m a)) (<= 0 b 115792089237316195423570985008687907853269984665640564039457584007913129639935)
           (= r (ubv_to_int (bvudiv (bvor (ite (>= a 0) ((_ int_to_bv 256) a)
      (bvmul #xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
        ((_ int_to_bv 256) (* (- 1) a))))
             (ite (>= b 0) ((_ int_to_bv 256) b)
      (bvmul #xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
        ((_ int_to_bv 256) (* (- 1) b))))) (ite (>= (+ b 1) 0) ((_ int_to_bv 256) (+ b 1))
      (bvmul #xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
        ((_ int_to_bv 256) (* (- 1) (+ b 1)))))))))
      (P a b r m))))
(assert (forall ((a Int) (b Int) (r Int) (c Int) (d Int) (m (Array Int Int)) (n (Array Int Int)))
  (=> (and (P a b r m) (= n (store m 7 r)) (= c b) (= d a) (= (select n 7) r)) (Q c d r n))))
(assert (forall ((a Int) (b Int) (r Int) (m (Array Int Int)))
  (=> (and (Q b a r m) (distinct a 7)) (R a b r m))))
(assert (forall ((a Int) (b Int) (r Int) (m (Array Int Int)))
  (=> (and (R a b r m) (distinct r (ubv_to_int (bvudiv (bvor ((_ int_to_bv 256) b)
             ((_ int_to_bv 256) a)) ((_ int_to_bv 256) (+ b 1)))))) false)))
(check-sat)
