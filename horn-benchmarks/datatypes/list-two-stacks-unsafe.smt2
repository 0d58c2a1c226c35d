; A queue of two lists: elements move from the input stack to the output stack; only non-negative ones are enqueued.
; assert the dequeued element is non-negative, for queues of at most one element (the error: element 4 comes out)
; Unsafe: enqueue 4, move, dequeue.
(set-logic HORN)

(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
(declare-fun Queue (List List) Bool)
(declare-fun Got (Int) Bool)

(assert (Queue nil nil))
(assert (forall ((x Int))
  (=> (and (Queue nil nil) (>= x 0)) (Queue (cons x nil) nil))))
(assert (forall ((x Int) (l List) (o List))
  (=> (Queue (cons x l) o) (Queue l (cons x o)))))
(assert (forall ((x Int) (l List) (o List))
  (=> (Queue l (cons x o)) (Got x))))
(assert (forall ((x Int) (l List) (o List))
  (=> (Queue l (cons x o)) (Queue l o))))
(assert (forall ((x Int))
  (=> (and (Got x) (= x 4)) false)))

(check-sat)
