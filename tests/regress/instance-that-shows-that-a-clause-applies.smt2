; expect: sat
; with: engine=relate
; The proof of a lemma that concludes a fact left out the instance by which the head of a clause is that fact.
(set-logic HORN)
(declare-datatypes ((Nat 0)) (((zero) (succ (pred Nat)))))
(declare-datatypes ((Seq 0)) (((nil) (cons (head Nat) (tail Seq)))))
(declare-fun app (Seq Seq Seq) Bool)
(assert (forall ((y Seq)) (app y nil y)))
(assert (forall ((o Seq) (x Seq) (y Seq) (h Nat)) (=> (app o x y) (app (cons h o) (cons h x) y))))
(assert (forall ((x Seq) (y Seq) (z Seq) (a Seq) (b Seq) (c Seq) (d Seq))
    (=> (and (app a y z) (app b x a) (app c x y) (app d c z) (not (= b d))) false)))
(check-sat)
