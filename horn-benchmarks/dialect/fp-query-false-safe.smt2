; Fixedpoint dialect: the query false is never reachable.
; Safe (unsat).
; Z3 5.4.0 reads names only in queries; the verdict is evident.
(declare-rel P (Int))
(declare-var x Int)
(rule (P 0))
(rule (=> (P x) (P (+ x 1))))
(query false)
