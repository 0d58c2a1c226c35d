; Syntax: declare-datatypes with an empty (par () …), names with ~ < > as Rust front ends write them.
; Unsafe: plus 2.

(set-logic HORN)
(declare-datatypes ((~Ref<Int> 0)) ((par () ((~ref<Int> (~now<Int> Int) (~end<Int> Int))))))
(declare-fun %step (~Ref<Int>) Bool)
(declare-fun %top (Bool) Bool)
(assert (forall ((_1 ~Ref<Int>)) (=> (= (~end<Int> _1) (+ (~now<Int> _1) 2)) (%step _1))))
(assert (forall ((_! Bool) (_*.1 Int) (_?.2 Int))
  (=> (and (%step (~ref<Int> _*.1 _?.2)) (= _! (not (= _?.2 (+ _*.1 1))))) (%top _!))))
(assert (forall ((_% Int)) (=> (%top true) false)))
(check-sat)
