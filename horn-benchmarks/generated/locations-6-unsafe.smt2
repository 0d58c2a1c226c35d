; Family locations, N = 6, unsafe.
; One predicate; N locations encoded in Boolean arguments, and a number that is raised at each step. The
; machine goes through the locations in order and starts again with 0. Safe: the number is the location.
; Unsafe: from the last location but one the machine may stay there and count.
; Expected verdict: unsat
(set-logic HORN)
(declare-fun Main (Bool Bool Bool Int) Bool)
(assert (Main false false false 0))
(assert (forall ((x Int))
  (=> (Main false false false x) (Main false false true (+ x 1)))))
(assert (forall ((x Int))
  (=> (Main false false true x) (Main false true false (+ x 1)))))
(assert (forall ((x Int))
  (=> (Main false true false x) (Main false true true (+ x 1)))))
(assert (forall ((x Int))
  (=> (Main false true true x) (Main true false false (+ x 1)))))
(assert (forall ((x Int))
  (=> (Main true false false x) (Main true false true (+ x 1)))))
(assert (forall ((x Int))
  (=> (Main true false true x) (Main false false false 0))))
(assert (forall ((x Int))
  (=> (Main true false false x) (Main true false false (+ x 1)))))
(assert (forall ((x Int))
  (=> (and (Main true false true x) (not (= x 5))) false)))
(check-sat)
