; Ticket lock, two processes (pc 0 idle, 1 waiting, 2 critical), one predicate for the state.
; Unsafe: taking a ticket by process B forgets to increment the dispenser.
; T next serving pcA tA pcB tB
(set-logic HORN)

(declare-fun T (Int Int Int Int Int Int) Bool)

(assert (T 0 0 0 0 0 0))
(assert (forall ((n Int) (s Int) (p Int) (a Int) (q Int) (b Int))
  (=> (and (T n s p a q b) (= p 0)) (T (+ n 1) s 1 n q b))))
(assert (forall ((n Int) (s Int) (p Int) (a Int) (q Int) (b Int))
  (=> (and (T n s p a q b) (= q 0)) (T n s p a 1 n))))
(assert (forall ((n Int) (s Int) (p Int) (a Int) (q Int) (b Int))
  (=> (and (T n s p a q b) (= p 1) (= a s)) (T n s 2 a q b))))
(assert (forall ((n Int) (s Int) (p Int) (a Int) (q Int) (b Int))
  (=> (and (T n s p a q b) (= q 1) (= b s)) (T n s p a 2 b))))
(assert (forall ((n Int) (s Int) (p Int) (a Int) (q Int) (b Int))
  (=> (and (T n s p a q b) (= p 2)) (T n (+ s 1) 0 a q b))))
(assert (forall ((n Int) (s Int) (p Int) (a Int) (q Int) (b Int))
  (=> (and (T n s p a q b) (= q 2)) (T n (+ s 1) p a 0 b))))
(assert (forall ((n Int) (s Int) (p Int) (a Int) (q Int) (b Int))
  (=> (and (T n s p a q b) (= p 2) (= q 2)) false)))

(check-sat)
