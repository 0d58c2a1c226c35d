; A machine with messages as datatypes: Req(n), Ack(n), Idle. An Ack carries the number of the last Req.
; Safe: n is copied.
(set-logic HORN)

(declare-datatypes ((Msg 0)) (((Idle) (Req (rid Int)) (Ack (aid Int)))))
(declare-fun State (Int Msg) Bool)

(assert (State 0 Idle))
(assert (forall ((n Int))
  (=> (State n Idle) (State (+ n 1) (Req (+ n 1))))))
(assert (forall ((n Int) (m Msg))
  (=> (and (State n m) ((_ is Req) m)) (State n (Ack (rid m))))))
(assert (forall ((n Int) (k Int))
  (=> (and (State n (Ack k)) (= k n)) (State n Idle))))
(assert (forall ((n Int) (k Int))
  (=> (and (State n (Ack k)) (not (= n k))) false)))

(check-sat)
