; An 8-bit counter goes up in steps of 62 and wraps around; assert it is never 186.
; Unsafe: 186 = 3 * 62.
(set-logic HORN)

(declare-fun C ((_ BitVec 8)) Bool)

(assert (C #x00))
(assert (forall ((x (_ BitVec 8)))
  (=> (C x) (C (bvadd x #x3e)))))
(assert (forall ((x (_ BitVec 8)))
  (=> (and (C x) (= x #xba)) false)))

(check-sat)
