; Mutable references as pairs of the current and the final value (the encoding of Rust's &mut by prophecies):
; inc(r) sets the final value to the current one plus 1. main: x = 5; inc(&mut x); assert x = 6
; Safe: the prophecy is resolved to 6.
(set-logic HORN)

(declare-datatypes ((Mut 0)) (((mut (cur Int) (fin Int)))))
(declare-fun inc (Mut) Bool)
(declare-fun main (Int) Bool)

(assert (forall ((r Mut))
  (=> (= (fin r) (+ (cur r) 1)) (inc r))))
(assert (forall ((x Int) (y Int))
  (=> (and (= x 5) (inc (mut x y))) (main y))))
(assert (forall ((y Int))
  (=> (and (main y) (not (= y 6))) false)))

(check-sat)
