; q = x / 10, r = x % 10 (unsigned, 8 bits): assert x = 10 q + r and r < 10
; Safe: the law of division with remainder.
(set-logic HORN)

(declare-fun In ((_ BitVec 8)) Bool)
(declare-fun QR ((_ BitVec 8) (_ BitVec 8) (_ BitVec 8)) Bool)

(assert (In #x00))
(assert (forall ((x (_ BitVec 8)))
  (=> (In x) (In (bvadd x #x01)))))
(assert (forall ((x (_ BitVec 8)))
  (=> (In x) (QR x (bvudiv x #x0a) (bvurem x #x0a)))))
(assert (forall ((x (_ BitVec 8)) (q (_ BitVec 8)) (r (_ BitVec 8)))
  (=> (and (QR x q r) (or (bvuge r #x0a) (not (= x (bvadd (bvmul #x0a q) r))))) false)))

(check-sat)
