; Fixedpoint dialect: a query with a declared variable as argument asks whether any value is reachable.
; Safe (unsat): Q needs a negative number.
; Z3 5.4.0 reads names only in queries; with a rule to a fresh relation in its place it confirms the verdict.
(declare-rel P (Int))
(declare-rel Q (Int))
(declare-var x Int)
(rule (P 0))
(rule (=> (P x) (P (+ x 1))))
(rule (=> (and (P x) (< x 0)) (Q x)))
(query (Q x))
