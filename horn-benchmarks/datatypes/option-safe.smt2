; An optional value: some(x) with x > 0 or none; unwrapping none is an error.
; Safe: the value is unwrapped after a test only.
(set-logic HORN)

(declare-datatypes ((Option 0)) (((none) (some (value Int)))))
(declare-fun Loop (Option) Bool)
(declare-fun Use (Option) Bool)

(assert (forall ((x Int))
  (=> (> x 0) (Loop (some x)))))
(assert (forall ((o Option))
  (=> (Loop o) (Loop none))))
(assert (forall ((o Option) (x Int))
  (=> (and (Loop o) (> x 0)) (Loop (some x)))))
(assert (forall ((o Option))
  (=> (and (Loop o) ((_ is some) o)) (Use o))))
(assert (forall ((o Option))
  (=> (and (Use o) ((_ is none) o)) false)))
(assert (forall ((x Int))
  (=> (and (Use (some x)) (<= x 0)) false)))

(check-sat)
