; A byte array with 4-bit addresses: address 15 is read-only, but the address register wraps around.
; Unsafe: it is compared before it is incremented.
(set-logic HORN)

(declare-fun Mem ((Array (_ BitVec 4) (_ BitVec 8)) (_ BitVec 4)) Bool)

(assert (forall ((m (Array (_ BitVec 4) (_ BitVec 8))))
  (=> (= (select m #xf) #x2a) (Mem m #x0))))
(assert (forall ((m (Array (_ BitVec 4) (_ BitVec 8))) (a (_ BitVec 4)) (v (_ BitVec 8)))
  (=> (and (Mem m a) (not (= a #xf))) (Mem (store m (bvadd a #x1) v) (bvadd a #x1)))))
(assert (forall ((m (Array (_ BitVec 4) (_ BitVec 8))) (a (_ BitVec 4)))
  (=> (Mem m a) (Mem m #x0))))
(assert (forall ((m (Array (_ BitVec 4) (_ BitVec 8))) (a (_ BitVec 4)))
  (=> (and (Mem m a) (not (= (select m #xf) #x2a))) false)))

(check-sat)
