; The classic: mid = (lo + hi) / 2 overflows, lo + (hi - lo) / 2 does not (8 bits, unsigned).
; Binary search, lo <= mid <= hi asserted.
; Safe: the second form.
(set-logic HORN)

(declare-fun Bs ((_ BitVec 8) (_ BitVec 8)) Bool)
(declare-fun Mid ((_ BitVec 8) (_ BitVec 8) (_ BitVec 8)) Bool)

(assert (forall ((lo (_ BitVec 8)) (hi (_ BitVec 8)))
  (=> (bvule lo hi) (Bs lo hi))))
(assert (forall ((lo (_ BitVec 8)) (hi (_ BitVec 8)))
  (=> (and (Bs lo hi) (bvult lo hi)) (Mid lo hi (bvadd lo (bvudiv (bvsub hi lo) #x02))))))
(assert (forall ((lo (_ BitVec 8)) (mid (_ BitVec 8)) (hi (_ BitVec 8)))
  (=> (Mid lo hi mid) (Bs lo mid))))
(assert (forall ((lo (_ BitVec 8)) (mid (_ BitVec 8)) (hi (_ BitVec 8)))
  (=> (and (Mid lo hi mid) (bvult mid hi)) (Bs (bvadd mid #x01) hi))))
(assert (forall ((lo (_ BitVec 8)) (mid (_ BitVec 8)) (hi (_ BitVec 8)))
  (=> (and (Mid lo hi mid) (not (and (bvule lo mid) (bvule mid hi)))) false)))

(check-sat)
