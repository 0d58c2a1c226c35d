; (Array Int Bool): set a flag, clear others; assert the flag f is set.
; Safe: only indices other than f are cleared.
(set-logic HORN)

(declare-fun B ((Array Int Bool) Int) Bool)

(assert (forall ((b (Array Int Bool)) (f Int))
  (=> (select b f) (B b f))))
(assert (forall ((b (Array Int Bool)) (f Int) (i Int))
  (=> (and (B b f) (not (= i f))) (B (store b i false) f))))
(assert (forall ((b (Array Int Bool)) (f Int) (i Int))
  (=> (B b f) (B (store b i true) f))))
(assert (forall ((b (Array Int Bool)) (f Int))
  (=> (and (B b f) (not (select b f))) false)))

(check-sat)
