; A record of two numbers is swapped again and again; assert fst + snd = 10.
; Safe: swapping keeps the sum.
(set-logic HORN)

(declare-datatypes ((Pair 0)) (((pair (fst Int) (snd Int)))))
(declare-fun P (Pair) Bool)

(assert (P (pair 3 7)))
(assert (forall ((p Pair))
  (=> (P p) (P (pair (snd p) (fst p))))))
(assert (forall ((p Pair))
  (=> (P p) (P (pair (- (fst p) 1) (+ (snd p) 1))))))

(assert (forall ((p Pair))
  (=> (and (P p) (not (= (+ (fst p) (snd p)) 10))) false)))

(check-sat)
