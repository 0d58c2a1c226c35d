; SAFARI (LPAR 2012), "strcpy": copy a zero-terminated string.
;   i = 0; while (src[i] != 0) { dst[i] = src[i]; i++; }
;   assert forall x. 0 <= x <= i => dst[x] = src[x]
; Unsafe: the terminator is not copied.
(set-logic HORN)

(declare-fun Loop ((Array Int Int) (Array Int Int) Int) Bool)
(declare-fun Exit ((Array Int Int) (Array Int Int) Int) Bool)

(assert (forall ((src (Array Int Int)) (dst (Array Int Int)))
  (Loop src dst 0)))
(assert (forall ((src (Array Int Int)) (dst (Array Int Int)) (dst1 (Array Int Int)) (i Int))
  (=> (and (Loop src dst i) (not (= (select src i) 0)) (= dst1 (store dst i (select src i))))
      (Loop src dst1 (+ i 1)))))
(assert (forall ((src (Array Int Int)) (dst (Array Int Int)) (dst1 (Array Int Int)) (i Int))
  (=> (and (Loop src dst i) (= (select src i) 0) (= dst1 dst)) (Exit src dst1 i))))
(assert (forall ((src (Array Int Int)) (dst (Array Int Int)) (i Int) (x Int))
  (=> (and (Exit src dst i) (<= 0 x) (<= x i) (not (= (select src x) (select dst x)))) false)))

(check-sat)
