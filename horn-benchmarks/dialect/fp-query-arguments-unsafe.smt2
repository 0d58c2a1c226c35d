; Fixedpoint dialect: a query with arguments, here a constant.
; Unsafe (sat): P 6.

; Z3 5.4.0 reads names only in queries; with a rule to a fresh relation in its place it confirms the verdict.
(declare-rel P (Int))
(declare-var x Int)
(rule (P 0))
(rule (=> (P x) (P (+ x 2))))
(query (P 6))
