; A grammar of tokens: words of `a b` again and again; assert that none has two `b` in a row.
; Safe: the words are a regular language, and so are those with two `b` in a row.
(set-logic HORN)

(declare-datatypes ((Token 0) (Word 0)) (((a) (b)) ((end) (put (first Token) (rest Word)))))
(declare-fun made (Word) Bool)
(declare-fun twice (Word) Bool)

(assert (made end))
(assert (forall ((w Word))
  (=> (made w) (made (put a (put b w))))))
(assert (forall ((w Word))
  (twice (put b (put b w)))))
(assert (forall ((t Token) (w Word))
  (=> (twice w) (twice (put t w)))))
(assert (forall ((w Word))
  (=> (and (made w) (twice w)) false)))

(check-sat)
