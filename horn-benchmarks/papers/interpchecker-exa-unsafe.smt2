; InterpChecker (Duan, Tian, Duan, Ong, ASE 2017), Fig. 1, Exa.c, reconstructed from its path formulas:
;   1  s = 1
;   2  if (a == 1)  { if (i > 1) s = s+2; else s = s+3; }
;      else         { if (i > 1) s = s+1; else s = s+2; }
;   7  if (s > 3) error
; One predicate whose first argument is the program counter.
; Unsafe (as in the paper): a = 1 and i <= 1 give s = 4.
(set-logic HORN)

(declare-fun State (Int Int Int Int) Bool)

(assert (forall ((pc Int) (a Int) (i Int) (s Int))
  (=> (= pc 1) (State pc a i s))))
(assert (forall ((pc Int) (pc1 Int) (a Int) (i Int) (s Int) (s1 Int))
  (=> (and (State pc a i s)
           (or (and (= pc 1) (= pc1 2) (= s1 1))
               (and (= pc 2) (= a 1) (> i 1) (= pc1 7) (= s1 (+ s 2)))
               (and (= pc 2) (= a 1) (<= i 1) (= pc1 7) (= s1 (+ s 3)))
               (and (= pc 2) (not (= a 1)) (> i 1) (= pc1 7) (= s1 (+ s 1)))
               (and (= pc 2) (not (= a 1)) (<= i 1) (= pc1 7) (= s1 (+ s 2)))))
      (State pc1 a i s1))))
(assert (forall ((a Int) (i Int) (s Int))
  (=> (and (State 7 a i s) (> s 3)) false)))

(check-sat)
