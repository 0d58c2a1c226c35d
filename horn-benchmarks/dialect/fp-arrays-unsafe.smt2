; Fixedpoint dialect: an array, select and store, ite, a head with Boolean constants, nested lets.
; Unsafe (sat): it is overwritten.

(declare-rel init ())
(declare-rel loop (Bool Int (Array Int Int)))
(declare-rel error ())
(declare-var A (Array Int Int))
(declare-var B (Array Int Int))
(declare-var i Int)
(declare-var j Int)
(declare-var first Bool)
(rule init)
(rule (=> (and init (= B (store A 4 1))) (loop true 0 B)))
(rule (let ((a!1 (ite first 0 (+ i 1))))
  (let ((a!2 (and (loop first i A) (= j a!1) (not (= j 5)) (= B (store A j 0)))))
    (=> a!2 (loop false j B)))))
(rule (let ((a!1 (and (loop first i A) (= i 3)))) (=> a!1 (loop false 4 A))))
(rule (=> (and (loop first i A) (not (= (select A 4) 1))) error))
(query error)
