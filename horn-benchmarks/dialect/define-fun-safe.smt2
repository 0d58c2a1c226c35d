; Syntax: define-fun with and without parameters, one that uses another, define-sort.
; Safe: next keeps 0 <= x < limit.
(set-logic HORN)
(define-sort Num () Int)
(define-sort Memory (T) (Array Int T))
(define-fun limit () Num 5)
(define-fun inside ((x Num)) Bool (and (<= 0 x) (< x limit)))
(define-fun next ((x Num)) Num (ite (< (+ x 1) limit) (+ x 1) 0))
(declare-fun P (Num (Memory Num)) Bool)
(assert (forall ((m (Memory Num))) (P 0 m)))
(assert (forall ((x Num) (m (Memory Num))) (=> (P x m) (P (next x) (store m x (next x))))))
(assert (forall ((x Num) (m (Memory Num))) (=> (and (P x m) (not (inside x))) false)))
(check-sat)
