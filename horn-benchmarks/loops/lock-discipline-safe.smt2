; The lock example of many model checkers:
;   do { lock(); old = new; if (nd()) { unlock(); new++; } } while (new != old); unlock();
; lock() while locked and unlock() while unlocked are errors.
; Safe: at the loop's end the lock is held if and only if new = old.
(set-logic HORN)

(declare-fun Begin (Int Int Int) Bool)
(declare-fun End (Int Int Int) Bool)

(assert (forall ((old Int) (new Int))
  (Begin 0 old new)))
(assert (forall ((l Int) (old Int) (new Int))
  (=> (and (Begin l old new) (= l 1)) false)))
(assert (forall ((l Int) (old Int) (new Int))
  (=> (and (Begin l old new) (= l 0)) (End 1 new new))))
(assert (forall ((l Int) (old Int) (new Int))
  (=> (and (Begin l old new) (= l 0)) (End 0 new (+ new 1)))))
(assert (forall ((l Int) (old Int) (new Int))
  (=> (and (End l old new) (not (= old new))) (Begin l old new))))
(assert (forall ((l Int) (old Int) (new Int))
  (=> (and (End l old new) (= old new) (= l 0)) false)))

(check-sat)
