; Unsigned saturating addition: s = a + b; if (s < a) s = 255; assert s != 255
; Unsafe: b = 255.
(set-logic HORN)

(declare-fun A ((_ BitVec 8)) Bool)

(assert (A #x00))
(assert (forall ((a (_ BitVec 8)) (b (_ BitVec 8)) (s (_ BitVec 8)))
  (=> (and (A a) (= s (bvadd a b))) (A (ite (bvult s a) #xff s)))))
(assert (forall ((a (_ BitVec 8)) (b (_ BitVec 8)) (s (_ BitVec 8)))
  (=> (and (A a) (= s (bvadd a b)) (= (ite (bvult s a) #xff s) #xff)) false)))

(check-sat)
