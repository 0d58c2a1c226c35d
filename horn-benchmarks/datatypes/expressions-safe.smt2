; Evaluation of expressions made of constants >= 0, sums and products by 2; assert the value is >= 0.
; Safe: all operations keep values non-negative.
(set-logic HORN)

(declare-datatypes ((Exp 0)) (((lit (num Int)) (plus (lhs Exp) (rhs Exp)) (twice (arg Exp)))))
(declare-fun Eval (Exp Int) Bool)

(assert (forall ((n Int))
  (=> (>= n 0) (Eval (lit n) n))))
(assert (forall ((e Exp) (f Exp) (m Int) (n Int))
  (=> (and (Eval e m) (Eval f n)) (Eval (plus e f) (+ m n)))))
(assert (forall ((e Exp) (n Int))
  (=> (Eval e n) (Eval (twice e) (* 2 n)))))
(assert (forall ((e Exp) (n Int))
  (=> (and (Eval e n) (< n 0)) false)))

(check-sat)
