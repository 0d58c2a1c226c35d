; Syntax: options and information before, between and after: a time limit, a source text over several lines, strings.
; Safe: x is never 1.
(set-info :smt-lib-version 2.6)
(set-option :timeout 30000)
(set-option :produce-models true)
(set-logic HORN)
(set-info :source |
  A text over
  several lines; with a semicolon, "quotes" and (parentheses
|)
(set-info :category "crafted")
(set-info :notes "a string with ""quotes"" ; and | signs")
(declare-fun P (Int) Bool)
(set-info :status sat)
(assert (P 0))
(assert (forall ((x Int)) (=> (P x) (P (* 2 x)))))
(assert (forall ((x Int)) (=> (and (P x) (= x 1)) false)))
(check-sat)
(exit)
