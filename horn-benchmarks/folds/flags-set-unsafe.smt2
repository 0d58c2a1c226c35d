; As flags-set-safe, but the value that is put to the end is false.
; Unsafe: the empty list.
(set-logic HORN)

(declare-datatypes ((Flags 0)) (((none) (flag (on Bool) (more Flags)))))
(declare-fun any (Flags Bool) Bool)
(declare-fun set (Flags Flags) Bool)

(assert (any none false))
(assert (forall ((b Bool) (c Bool) (x Flags))
  (=> (any x c) (any (flag b x) (or b c)))))
(assert (set none (flag false none)))
(assert (forall ((b Bool) (x Flags) (y Flags))
  (=> (set x y) (set (flag b x) (flag b y)))))
(assert (forall ((x Flags) (y Flags))
  (=> (and (set x y) (any y false)) false)))

(check-sat)
