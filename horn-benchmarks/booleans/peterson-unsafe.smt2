; Peterson's algorithm for two processes, everything Boolean: flags f and g, turn t (true: the first waits), and two
; bits of control for each process (p1 p0: 00 idle, 01 flag set, 10 waiting, 11 critical).
; Unsafe: the first process enters without looking at the turn or the other flag.
; S p1 p0 f q1 q0 g t
(set-logic HORN)

(declare-fun S (Bool Bool Bool Bool Bool Bool Bool) Bool)

(assert (S false false false false false false false))
(assert (forall ((q1 Bool) (q0 Bool) (f Bool) (g Bool) (t Bool))
  (=> (S false false f q1 q0 g t) (S false true true q1 q0 g t))))
(assert (forall ((q1 Bool) (q0 Bool) (f Bool) (g Bool) (t Bool))
  (=> (S false true f q1 q0 g t) (S true false f q1 q0 g true))))
(assert (forall ((q1 Bool) (q0 Bool) (f Bool) (g Bool) (t Bool))
  (=> (and (S true false f q1 q0 g t) (or g (not g))) (S true true f q1 q0 g t))))
(assert (forall ((q1 Bool) (q0 Bool) (f Bool) (g Bool) (t Bool))
  (=> (S true true f q1 q0 g t) (S false false false q1 q0 g t))))
(assert (forall ((p1 Bool) (p0 Bool) (f Bool) (g Bool) (t Bool))
  (=> (S p1 p0 f false false g t) (S p1 p0 f false true true t))))
(assert (forall ((p1 Bool) (p0 Bool) (f Bool) (g Bool) (t Bool))
  (=> (S p1 p0 f false true g t) (S p1 p0 f true false g false))))
(assert (forall ((p1 Bool) (p0 Bool) (f Bool) (g Bool) (t Bool))
  (=> (and (S p1 p0 f true false g t) (or (not f) t)) (S p1 p0 f true true g t))))
(assert (forall ((p1 Bool) (p0 Bool) (f Bool) (g Bool) (t Bool))
  (=> (S p1 p0 f true true g t) (S p1 p0 f false false false t))))
(assert (forall ((f Bool) (g Bool) (t Bool))
  (=> (S true true f true true g t) false)))

(check-sat)
