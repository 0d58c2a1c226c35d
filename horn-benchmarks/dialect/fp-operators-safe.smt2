; Fixedpoint dialect: div, mod, rem, xor, bit-vectors, distinct, options of the engine.
; Safe (unsat): x mod 4 is 0 or 1.
(set-option :fp.engine spacer)
(declare-rel S (Int (_ BitVec 8) Bool))
(declare-rel bad ())
(declare-var x Int)
(declare-var y Int)
(declare-var b (_ BitVec 8))
(declare-var p Bool)
(rule (=> (= (rem 9 4) x) (S x #x01 false)))
(rule (=> (and (S x b p) (= y (+ x 4))) (S y (bvadd b #x01) (xor p true))))
(rule (=> (and (S x b p) (distinct (mod x 4) 0 1)) bad))
(rule (=> (and (S x b p) (= (div x 4) (- 1))) bad))
(query bad)
