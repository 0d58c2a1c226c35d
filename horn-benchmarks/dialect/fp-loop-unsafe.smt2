; Fixedpoint dialect, as SeaHorn writes it: x = 0; while (x < 10) x++; assert x = 11. A query that is sat is reachable.
; Unsafe (the answer is sat): x = 10.

(set-info :original "loop.bc")
(set-info :authors "hand-written")
(declare-rel main@entry ())
(declare-rel main@bb (Int ))
(declare-rel main@verifier.error.split ())
(declare-var main@%x_0 Int )
(declare-var main@%x_1 Int )
(declare-var main@%cond_0 Bool )
(rule main@entry)
(rule (=> (and main@entry (= main@%x_0 0)) (main@bb main@%x_0)))
(rule (let ((a!1 (and (main@bb main@%x_0) true (= main@%cond_0 (< main@%x_0 10)) main@%cond_0
                      (= main@%x_1 (+ main@%x_0 1)))))
  (=> a!1 (main@bb main@%x_1))))
(rule (let ((a!1 (and (main@bb main@%x_0) (= main@%cond_0 (< main@%x_0 10)) (not main@%cond_0)
                      (not (= main@%x_0 11)))))
  (=> a!1 main@verifier.error.split)))
(query main@verifier.error.split)
