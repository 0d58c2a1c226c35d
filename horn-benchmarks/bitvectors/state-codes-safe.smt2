; A machine whose state s is a word of three values, with o for the state before: 0x10 takes the lock l and goes to
; 0xcafe, that goes to 0x77, and this, if it came from 0xcafe, releases the lock and goes to 0x10. assert that the
; lock is free at 0x10. o is anything to begin with.
; Safe: 0x10 is reached by a release only.
(set-logic HORN)

(declare-fun S ((_ BitVec 32) (_ BitVec 32) Bool) Bool)

(assert (forall ((s (_ BitVec 32)) (o (_ BitVec 32))) (=> (= s #x00000010) (S s o false))))
(assert (forall ((s (_ BitVec 32)) (o (_ BitVec 32)) (l Bool) (t (_ BitVec 32)))
  (=> (and (S s o l) (= s #x00000010) (not l) (= t #x0000cafe)) (S t s true))))
(assert (forall ((s (_ BitVec 32)) (o (_ BitVec 32)) (l Bool) (t (_ BitVec 32)))
  (=> (and (S s o l) (= s #x0000cafe) (= t #x00000077)) (S t s l))))
(assert (forall ((s (_ BitVec 32)) (o (_ BitVec 32)) (l Bool) (t (_ BitVec 32)))
  (=> (and (S s o l) (= s #x00000077) (= o #x0000cafe) (= t #x00000010)) (S t s false))))
(assert (forall ((s (_ BitVec 32)) (o (_ BitVec 32)) (l Bool))
  (=> (and (S s o l) (= s #x00000010) l) false)))

(check-sat)
