; A record (balance, limit, open) is updated field by field as structs are; assert balance >= -limit while open.
; Unsafe: the limit may be lowered too.
(set-logic HORN)

(declare-datatypes ((Account 0)) (((account (balance Int) (limit Int) (open Bool)))))
(declare-fun Acc (Account) Bool)

(assert (Acc (account 0 100 true)))
(assert (forall ((a Account) (x Int))
  (=> (and (Acc a) (open a) (> x 0)) (Acc (account (+ (balance a) x) (limit a) (open a))))))
(assert (forall ((a Account) (x Int))
  (=> (and (Acc a) (open a) (> x 0) (>= (- (balance a) x) (- (limit a))))
      (Acc (account (- (balance a) x) (limit a) (open a))))))
(assert (forall ((a Account) (l Int))
  (=> (and (Acc a) (> l 0)) (Acc (account (balance a) l (open a))))))
(assert (forall ((a Account))
  (=> (Acc a) (Acc (account (balance a) (limit a) false)))))
(assert (forall ((a Account))
  (=> (and (Acc a) (open a) (< (balance a) (- (limit a)))) false)))

(check-sat)
