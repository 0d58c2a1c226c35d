; Fischer's mutual exclusion for two processes (pc 0 idle, 1 about to write, 2 written and waiting, 3 critical), id the
; shared variable, a and b the clocks. Writing happens at most 1 after the request, entering any time after writing.
; Unsafe: without the wait both may enter.
; F p a q b id
(set-logic HORN)

(declare-fun F (Int Real Int Real Int) Bool)

(assert (F 0 0.0 0 0.0 0))
(assert (forall ((p Int) (q Int) (id Int) (a Real) (b Real) (d Real))
  (=> (and (F p a q b id) (>= d 0.0) (=> (= p 1) (<= (+ a d) 1.0)) (=> (= q 1) (<= (+ b d) 1.0)))
      (F p (+ a d) q (+ b d) id))))
(assert (forall ((p Int) (q Int) (id Int) (a Real) (b Real))
  (=> (and (F p a q b id) (= p 0) (= id 0)) (F 1 0.0 q b id))))
(assert (forall ((p Int) (q Int) (id Int) (a Real) (b Real))
  (=> (and (F p a q b id) (= p 1)) (F 2 0.0 q b 1))))
(assert (forall ((p Int) (q Int) (id Int) (a Real) (b Real))
  (=> (and (F p a q b id) (= p 2) (= id 1)) (F 3 a q b id))))
(assert (forall ((p Int) (q Int) (id Int) (a Real) (b Real))
  (=> (and (F p a q b id) (= p 2) (not (= id 1))) (F 0 a q b id))))
(assert (forall ((p Int) (q Int) (id Int) (a Real) (b Real))
  (=> (and (F p a q b id) (= p 3)) (F 0 a q b 0))))
(assert (forall ((p Int) (q Int) (id Int) (a Real) (b Real))
  (=> (and (F p a q b id) (= q 0) (= id 0)) (F p a 1 0.0 id))))
(assert (forall ((p Int) (q Int) (id Int) (a Real) (b Real))
  (=> (and (F p a q b id) (= q 1)) (F p a 2 0.0 2))))
(assert (forall ((p Int) (q Int) (id Int) (a Real) (b Real))
  (=> (and (F p a q b id) (= q 2) (= id 2)) (F p a 3 b id))))
(assert (forall ((p Int) (q Int) (id Int) (a Real) (b Real))
  (=> (and (F p a q b id) (= q 2) (not (= id 2))) (F p a 0 b id))))
(assert (forall ((p Int) (q Int) (id Int) (a Real) (b Real))
  (=> (and (F p a q b id) (= q 3)) (F p a 0 b 0))))
(assert (forall ((p Int) (q Int) (id Int) (a Real) (b Real))
  (=> (and (F p a q b id) (= p 3) (= q 3)) false)))

(check-sat)
