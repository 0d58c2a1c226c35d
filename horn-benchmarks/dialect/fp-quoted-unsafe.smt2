; Fixedpoint dialect: quoted names, a name of a rule, variables shared by rules (they are independent).
; Unsafe (sat): of 1, too.

(declare-rel |first rel| (Int))
(declare-rel |second (rel)| (Int))
(declare-rel err ())
(declare-var |a var| Int)
(declare-var v Int)
(rule (=> (>= |a var| 1) (|first rel| |a var|)) base-case)
(rule (=> (and (|first rel| |v|) (= |a var| (+ v 0))) (|second (rel)| |a var|)) |step; one|)
(rule (=> (and (|second (rel)| v) (< v 2)) err))
(query err)
