; Syntax: quoted names with spaces, parentheses and semicolons; a name quoted in one place and not in another.
; Safe: the sum of the tuple is 5.
(set-logic HORN)
(declare-datatypes ((|tuple(int, int)| 0)) (((|tuple(int, int)| (|first of| Int) (|second of| Int)))))
(declare-fun |block 1; entry| (|tuple(int, int)|) Bool)
(declare-fun |plain| (Int) Bool)
(assert (forall ((|a b| Int)) (=> (= |a b| 2) (plain |a b|))))
(assert (forall ((x Int)) (=> (|plain| |x|) (|block 1; entry| (|tuple(int, int)| |x| 3)))))
(assert (forall ((|t (1)| |tuple(int, int)|))
  (=> (|block 1; entry| |t (1)|)
      (|block 1; entry| (|tuple(int, int)| (+ (|first of| |t (1)|) 1) (- (|second of| |t (1)|) 1))))))
(assert (forall ((t |tuple(int, int)|))
  (=> (and (|block 1; entry| t) (not (= (+ (|first of| t) (|second of| t)) 5))) false)))
(check-sat)
