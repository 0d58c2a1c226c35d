; Fixedpoint dialect: the query true is reachable at once.
; Unsafe (sat).
; Z3 5.4.0 reads names only in queries; the verdict is evident.
(declare-rel P (Int))
(declare-var x Int)
(rule (=> (> x 0) (P x)))
(query true)
