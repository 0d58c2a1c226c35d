; Fixedpoint dialect: div, mod, rem, xor, bit-vectors, distinct, options of the engine.
; Unsafe (sat): the step is 6 once.

(set-option :fp.engine spacer)
(declare-rel S (Int (_ BitVec 8) Bool))
(declare-rel bad ())
(declare-var x Int)
(declare-var y Int)
(declare-var b (_ BitVec 8))
(declare-var p Bool)
(rule (=> (= (rem 9 4) x) (S x #x01 false)))
(rule (=> (and (S x b p) (= y (+ x (ite (= x 9) 6 4)))) (S y (bvadd b #x01) (xor p true))))
(rule (=> (and (S x b p) (distinct (mod x 4) 0 1)) bad))
(rule (=> (and (S x b p) (= (div x 4) (- 1))) bad))
(query bad)
