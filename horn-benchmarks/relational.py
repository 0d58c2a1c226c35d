"""Writes the family `relational/`: statements about two or more runs of recursive programs.

Usage: python3 relational.py [FOLDER]

Each task is made of programs (below, as clauses) and a statement in two variants. The safe one holds of
all runs; the unsafe one fails for the runs that its comment names.
"""

import sys
from pathlib import Path

# Clauses by predicate: sorts, then `head <- body` with the body's conjuncts.
PROGRAMS = {
    "add": ("Int Int Int", ["(add x y y) <- (<= x 0)", "(add x y z) <- (> x 0) (add (- x 1) (+ y 1) z)"]),
    "mult": ("Int Int Int", ["(mult 0 y 0) <-", "(mult x y (+ z y)) <- (> x 0) (mult (- x 1) y z)"]),
    "pow2": ("Int Int", ["(pow2 x 1) <- (<= x 0)", "(pow2 x (+ y y)) <- (> x 0) (pow2 (- x 1) y)"]),
    "pow2t": ("Int Int", ["(pow2t x 1) <- (<= x 0)", "(pow2t x (+ y z)) <- (> x 0) (pow2t (- x 1) y) (pow2t (- x 1) z)"]),
    "pow4": ("Int Int", ["(pow4 x 1) <- (<= x 0)", "(pow4 x (* 4 y)) <- (> x 0) (pow4 (- x 1) y)"]),
    "fact": ("Int Int", ["(fact x 1) <- (<= x 0)", "(fact x y) <- (> x 0) (fact (- x 1) z) (mult x z y)"]),
    "sum": ("Int Int", ["(sum x 0) <- (<= x 0)", "(sum x (+ x y)) <- (> x 0) (sum (- x 1) y)"]),
    "acc": ("Int Int Int", ["(acc x y y) <- (<= x 0)", "(acc x y z) <- (> x 0) (acc (- x 1) (+ y x) z)"]),
    "up": ("Int Int Int", ["(up x y 0) <- (> x y)", "(up x y (+ x z)) <- (<= x y) (up (+ x 1) y z)"]),
    "down": ("Int Int Int", ["(down x y 0) <- (> x y)", "(down x y (+ y z)) <- (<= x y) (down x (- y 1) z)"]),
    "unrolled": ("Int Int", ["(unrolled x 0) <- (<= x 0)", "(unrolled 1 1) <-",
                             "(unrolled x (+ x x y (- 1))) <- (> x 1) (unrolled (- x 2) y)"]),
    "sum3": ("Int Int", ["(sum3 x 0) <- (<= x 0)", "(sum3 x (+ x x x y)) <- (> x 0) (sum3 (- x 1) y)"]),
    "square": ("Int Int", ["(square 0 0) <-", "(square x (+ y x x (- 1))) <- (> x 0) (square (- x 1) y)"]),
    "doubled": ("Int Int", ["(doubled x 0) <- (<= x 0)", "(doubled x (+ y 2)) <- (> x 0) (doubled (- x 1) y)"]),
    "tri": ("Int Int", ["(tri x 0) <- (<= x 0)", "(tri x (+ y z)) <- (> x 0) (tri (- x 1) y) (sum x z)"]),
    "fib": ("Int Int", ["(fib x 1) <- (< x 2)", "(fib x (+ y z)) <- (>= x 2) (fib (- x 1) y) (fib (- x 2) z)"]),
    "fibr": ("Int Int", ["(fibr x 1) <- (< x 2)", "(fibr x (+ y z)) <- (>= x 2) (fibr (- x 2) y) (fibr (- x 1) z)"]),
    "trib": ("Int Int", ["(trib x 1) <- (< x 3)",
                         "(trib x (+ y z w)) <- (>= x 3) (trib (- x 1) y) (trib (- x 2) z) (trib (- x 3) w)"]),
    "even": ("Int Int", ["(even 0 1) <-", "(even x y) <- (> x 0) (odd (- x 1) y)"]),
    "odd": ("Int Int", ["(odd 0 0) <-", "(odd x y) <- (> x 0) (even (- x 1) y)"]),
    "half": ("Int Int", ["(half x 0) <- (>= x 0) (< x 2)", "(half x (+ y 1)) <- (>= x 2) (half (- x 2) y)"]),
    "log": ("Int Int", ["(log x 0) <- (< x 2)", "(log x (+ z 1)) <- (>= x 2) (half x y) (log y z)"]),
    "max": ("Int Int Int", ["(max x y y) <- (<= x 0)", "(max x y x) <- (> x 0) (<= y 0)",
                            "(max x y (+ z 1)) <- (> x 0) (> y 0) (max (- x 1) (- y 1) z)"]),
    "gcd": ("Int Int Int", ["(gcd x 0 x) <-", "(gcd x y z) <- (> y 0) (> y x) (gcd y x z)",
                            "(gcd x y z) <- (> y 0) (<= y x) (gcd (- x y) y z)"]),
    "hanoi": ("Int Int", ["(hanoi x 0) <- (<= x 0)", "(hanoi x (+ y z 1)) <- (> x 0) (hanoi (- x 1) y) (hanoi (- x 1) z)"]),
    "quot": ("Int Int", ["(quot x 0) <- (< x 3)", "(quot x (+ y 1)) <- (>= x 3) (quot (- x 3) y)"]),
    "quot6": ("Int Int", ["(quot6 x 0) <- (< x 3)", "(quot6 x 1) <- (>= x 3) (< x 6)",
                          "(quot6 x (+ y 2)) <- (>= x 6) (quot6 (- x 6) y)"]),
    "rest": ("Int Int", ["(rest x x) <- (< x 3)", "(rest x y) <- (>= x 3) (rest (- x 3) y)"]),
    "rest6": ("Int Int", ["(rest6 x x) <- (< x 3)", "(rest6 x (- x 3)) <- (>= x 3) (< x 6)",
                          "(rest6 x y) <- (>= x 6) (rest6 (- x 6) y)"]),
    "mc": ("Int Int", ["(mc x (- x 10)) <- (> x 100)", "(mc x z) <- (<= x 100) (mc (+ x 11) y) (mc y z)"]),
    "ack": ("Int Int Int", ["(ack m n (+ n 1)) <- (= m 0)", "(ack m n r) <- (> m 0) (= n 0) (ack (- m 1) 1 r)",
                            "(ack m n r) <- (> m 0) (> n 0) (ack m (- n 1) s) (ack (- m 1) s r)"]),
    # A secret h, a public l, and what is seen.
    "quiet": ("Int Int Int", ["(quiet h l 0) <- (<= l 0)", "(quiet h l (+ r 2)) <- (> l 0) (quiet (+ h h 1) (- l 1) r)"]),
    "equal": ("Int Int Int", ["(equal h l 0) <- (<= l 0)", "(equal h l (+ r 1)) <- (> l 0) (> h 0) (equal (- h 1) (- l 1) r)",
                              "(equal h l (+ 1 r)) <- (> l 0) (<= h 0) (equal (+ h 5) (- l 1) r)"]),
    "leak": ("Int Int Int", ["(leak h l 0) <- (<= l 0)", "(leak h l (+ r 1)) <- (> l 0) (> h 7) (leak h (- l 1) r)",
                             "(leak h l (+ r 2)) <- (> l 0) (<= h 7) (leak h (- l 1) r)"]),
    "sift": ("Int Int Int", ["(sift h l l) <- (<= l 0)", "(sift h l r) <- (> l 0) (< h l) (sift h (- l 1) r)",
                             "(sift h l r) <- (> l 0) (>= h l) (sift (- h 1) (- l 1) r)"]),
    "steps": ("Int Int Int", ["(steps h l 0) <- (<= h 0)", "(steps h l (+ r 1)) <- (> h 0) (steps (- h 1) l r)"]),
    "fast": ("Int Int Int", ["(fast x y 0) <- (<= y 0)", "(fast x y (+ x z)) <- (= y 1) (fast x 0 z)",
                             "(fast x y (+ x x z)) <- (> y 1) (fast x (- y 2) z)"]),
    "slow": ("Int Int Int", ["(slow x y 0) <- (<= y 0)", "(slow x y (+ x z)) <- (> y 0) (slow x (- y 1) z)"]),
    "both": ("Int Int Int", ["(both x 0 0) <- (<= x 0)", "(both x (+ a x) (+ b 1)) <- (> x 0) (both (- x 1) a b)"]),
    "count": ("Int Int", ["(count x 0) <- (<= x 0)", "(count x (+ b 1)) <- (> x 0) (count (- x 1) b)"]),
    # Loops from i up to n, in two ways each.
    "times": ("Int Int Int Int", ["(times i n c 0) <- (>= i n)",
                                  "(times i n c (+ (* 5 i) c r)) <- (< i n) (times (+ i 1) n c r)"]),
    "plus": ("Int Int Int Int Int", ["(plus i n c j 0) <- (>= i n)",
                                     "(plus i n c j (+ j c r)) <- (< i n) (plus (+ i 1) n c (+ j 5) r)"]),
    "apart": ("Int Int Int Int Int", ["(apart i n c e 0) <- (>= i n)",
                                      "(apart i n c e (+ r c e)) <- (< i n) (apart (+ i 1) n c e r)"]),
    "hoisted": ("Int Int Int Int", ["(hoisted i n h 0) <- (>= i n)",
                                    "(hoisted i n h (+ r h)) <- (< i n) (hoisted (+ i 1) n h r)"]),
    "forth": ("Int Int Int Int", ["(forth i n a a) <- (>= i n)",
                                  "(forth i n a b) <- (< i n) (forth (+ i 1) n (+ a i i) b)"]),
    "back": ("Int Int Int", ["(back n a a) <- (<= n 0)", "(back n a b) <- (> n 0) (back (- n 1) (+ a n n (- 2)) b)"]),
    "inner": ("Int Int Int", ["(inner m a a) <- (<= m 0)", "(inner m a b) <- (> m 0) (inner (- m 1) (+ a 1) b)"]),
    "nested": ("Int Int Int Int", ["(nested n m a a) <- (<= n 0)",
                                   "(nested n m a c) <- (> n 0) (inner m a b) (nested (- n 1) m b c)"]),
    "flat": ("Int Int Int Int", ["(flat n m a a) <- (<= n 0)", "(flat n m a c) <- (> n 0) (flat (- n 1) m (+ a m) c)"]),
    "residue": ("Int Int Int", ["(residue x y x) <- (< x y)", "(residue x y z) <- (>= x y) (residue (- x y) y z)"]),
    # Clauses that call several programs, of which queries speak as of one fact.
    "sums": ("Int Int Int Int", ["(sums a d b c) <- (sum a b) (acc a d c)"]),
    "walk": ("Int Int Int", ["(walk 0 n 0) <- (>= n 0)", "(walk (+ i 1) n (+ s i 1)) <- (< i n) (walk i n s)"]),
    "client": ("Int Int Int", ["(client n s y) <- (walk i n s) (>= i n) (sum n y)"]),
    "order": ("Int Int Int Int", ["(order a b c d) <- (sum a b) (sum c d) (<= a c)"]),
    "outer": ("Int Int", ["(outer b d) <- (order a b c d)"]),
    "len": ("L Int", ["(len nil 0) <-", "(len (cons x l) (+ n 1)) <- (len l n)"]),
    "inc": ("L L", ["(inc nil nil) <-", "(inc (cons x l) (cons (+ x 1) m)) <- (inc l m)"]),
    "inc2": ("L L", ["(inc2 nil nil) <-", "(inc2 (cons x l) (cons (+ x 2) m)) <- (inc2 l m)"]),
    "total": ("L Int", ["(total nil 0) <-", "(total (cons x l) (+ n x)) <- (total l n)"]),
    "totala": ("L Int Int", ["(totala nil s s) <-", "(totala (cons x l) s n) <- (totala l (+ s x) n)"]),
    # Functions on lists whose proofs need facts that exist, as an element that is appended at the end.
    "drop": ("Int L L", ["(drop 0 l l) <-", "(drop n nil nil) <- (> n 0)",
                         "(drop n (cons x l) m) <- (> n 0) (drop (- n 1) l m)"]),
    "snoc": ("L Int L", ["(snoc nil x (cons x nil)) <-", "(snoc (cons y l) x (cons y m)) <- (snoc l x m)"]),
    "rotate": ("Int L L", ["(rotate 0 l l) <-", "(rotate n nil nil) <- (> n 0)",
                           "(rotate n (cons x l) k) <- (> n 0) (snoc l x m) (rotate (- n 1) m k)"]),
    "append": ("L L L", ["(append nil l l) <-", "(append (cons x k) l (cons x m)) <- (append k l m)"]),
    "reverse": ("L L", ["(reverse nil nil) <-",
                        "(reverse (cons x k) m) <- (reverse k l) (append l (cons x nil) m)"]),
    "insert": ("Int L L", ["(insert x nil (cons x nil)) <-",
                           "(insert x (cons y l) (cons x (cons y l))) <- (<= x y)",
                           "(insert x (cons y l) (cons y m)) <- (> x y) (insert x l m)"]),
    "sort": ("L L", ["(sort nil nil) <-", "(sort (cons x l) k) <- (sort l m) (insert x m k)"]),
    "occurs": ("Int L Int", ["(occurs x nil 0) <-", "(occurs x (cons x l) (+ n 1)) <- (occurs x l n)",
                            "(occurs x (cons y l) n) <- (occurs x l n) (distinct x y)"]),
    # Arrays: a is read or written from the index i up to n.
    "suma": ("A Int Int Int", ["(suma a i n 0) <- (>= i n)",
                               "(suma a i n (+ s (select a i))) <- (< i n) (suma a (+ i 1) n s)"]),
    "acca": ("A Int Int Int Int", ["(acca a i n s s) <- (>= i n)",
                                   "(acca a i n v s) <- (< i n) (acca a (+ i 1) n (+ v (select a i)) s)"]),
    "having": ("A Int Int Int Int", ["(having a k i n 0) <- (>= i n)",
                                     "(having a k i n (+ r 1)) <- (< i n) (= (select a i) k) (having a k (+ i 1) n r)",
                                     "(having a k i n r) <- (< i n) (distinct (select a i) k) (having a k (+ i 1) n r)"]),
    "fill": ("A Int Int A", ["(fill a i n a) <- (>= i n)",
                             "(fill a i n b) <- (< i n) (fill (store a i (+ i i)) (+ i 1) n b)"]),
    "fillv": ("A Int Int Int A", ["(fillv a i n v a) <- (>= i n)",
                                  "(fillv a i n v b) <- (< i n) (fillv (store a i v) (+ i 1) n (+ v 2) b)"]),
    "twice": ("A Int Int A", ["(twice a i n a) <- (>= i n)",
                              "(twice a i n b) <- (< i n) (twice (store a i (* 2 i)) (+ 1 i) n b)"]),
}
NEEDS = {"fact": ["mult"], "even": ["odd"], "odd": ["even"], "log": ["half"], "tri": ["sum"], "sums": ["sum", "acc"],
         "nested": ["inner"], "client": ["walk", "sum"], "order": ["sum"], "outer": ["order"], "rotate": ["snoc"],
         "reverse": ["append"], "sort": ["insert"]}

# Name, what it says, safe query, unsafe query, why the latter is reachable, and what is hard.
TASKS = [
    ("accumulator", "A sum by recursion and one with an accumulator.",
     "(sum a b) (acc a 0 c) (distinct b c)", "(sum a b) (acc a 1 c) (distinct b c)", "acc(0, 1) is 1"),
    ("accumulator-start", "A sum with an accumulator that does not start at zero.",
     "(sum a b) (acc a d c) (distinct c (+ b d))", "(sum a b) (acc a d c) (distinct c (+ b d d))", "acc(0, 1) is 1"),
    ("accumulator-monotone", "A sum with an accumulator grows with it.",
     "(acc a b c) (acc a d e) (< b d) (>= c e)", "(acc a b c) (acc a d e) (<= b d) (>= c e)", "for equal arguments"),
    ("loop-up-down", "A sum upward and a sum downward, of one interval.",
     "(up x y a) (down x y b) (distinct a b)", "(up x y a) (down x (+ y 1) b) (distinct a b)", "for x = y = 0"),
    ("loop-unrolled", "A sum by steps of one and of two.",
     "(sum a b) (unrolled a c) (distinct b c)", "(sum a b) (unrolled (+ a 1) c) (= b 10) (distinct b c)", "for a = 4"),
    ("loop-scaled", "Three times a sum, and the sum of triples.",
     "(sum a b) (sum3 a c) (distinct (* 3 b) c)", "(sum a b) (sum3 a c) (>= a 3) (distinct (* 2 b) c)", "for a = 3"),
    ("loop-doubled", "Twice a number by steps of two, and by adding it to itself.",
     "(doubled a b) (add a a c) (>= a 0) (distinct b c)", "(doubled a b) (add a a c) (distinct b c)", "for a = -1"),
    ("loop-both", "One loop with two results, and two loops.",
     "(both a b c) (sum a d) (count a e) (distinct (+ b c) (+ d e))",
     "(both a b c) (sum a d) (count a e) (distinct (+ b c) (+ d d))", "for a = 2"),
    ("loop-strides", "A product by one addition in each step, and by two.",
     "(slow x y a) (fast x y b) (distinct a b)", "(slow x y a) (fast x (+ y 1) b) (> y 1) (distinct a b)", "for x = 1"),
    ("loop-strength", "A loop multiplies its counter, another one adds to a second counter.",
     "(times 0 n c a) (plus 0 n c 0 b) (distinct a b)", "(times 0 n c a) (plus 0 n c 1 b) (distinct a b)", "for n = 1"),
    ("loop-hoisted", "A sum of two constants in each step, and before the loop.",
     "(apart 0 n c e a) (hoisted 0 n (+ c e) b) (distinct a b)",
     "(apart 0 n c e a) (hoisted 0 n (+ c e 1) b) (distinct a b)", "for n = 1"),
    ("loop-reversed", "A loop upward and one downward, both with accumulators.",
     "(forth 0 n 0 a) (back n 0 b) (distinct a b)", "(forth 0 n 0 a) (back n 1 b) (distinct a b)", "for n = 0"),
    ("loop-nested", "A nested loop that counts, and one loop that adds.",
     "(nested n m 0 a) (flat n m 0 b) (>= m 0) (distinct a b)", "(nested n m 0 a) (flat n m 0 b) (distinct a b)",
     "for n = 1 and m = -1"),
    ("squares", "A square as the sum of two sums.",
     "(square a b) (sum a c) (sum (- a 1) d) (>= a 1) (distinct b (+ c d))",
     "(square a b) (sum a c) (sum (- a 1) d) (>= a 1) (distinct b (+ c c))", "for a = 1"),
    ("called-accumulator", "A clause calls a sum and one with an accumulator, and the query speaks of the clause.",
     "(sums a d b c) (distinct c (+ b d))", "(sums a d b c) (distinct c (+ b d d))", "acc(0, 1) is 1"),
    ("called-loop", "A clause with a loop and a call; both add up the same numbers.",
     "(client n s y) (distinct s y)", "(client n s y) (> n 2) (= s y)", "for n = 3"),
    ("called-order", "A clause in a clause calls a sum twice, and drops the arguments.",
     "(outer b d) (> b d)", "(outer b d) (>= b d)", "for equal arguments"),
    ("arrays-sum", "The elements of an array, added by recursion and with an accumulator.",
     "(suma a i n s) (acca a i n 0 t) (distinct s t)", "(suma a i n s) (acca a i n 1 t) (distinct s t)",
     "for an empty range"),
    ("arrays-counted", "The elements with one value in a range, and in its two parts.",
     "(having a k 0 m x) (having a k m n y) (having a k 0 n z) (<= 0 m) (<= m n) (distinct z (+ x y))",
     "(having a k 0 m x) (having a k m (+ n 1) y) (having a k 0 n z) (<= 0 m) (<= m n) (distinct z (+ x y))",
     "if the element n is k"),
    ("arrays-written", "Two loops write the same numbers, and are read at one index.",
     "(fill a 0 n b) (twice a 0 n c) (distinct (select b j) (select c j))",
     "(fill a 0 n b) (twice a 1 n c) (distinct (select b j) (select c j))", "if the element 0 is not 0"),
    ("arrays-strength", "A loop writes products, another one sums, and they are read at one index.",
     "(fill a 0 n b) (fillv a 0 n 0 c) (distinct (select b j) (select c j))",
     "(fill a 0 n b) (fillv a 0 n 1 c) (distinct (select b j) (select c j))", "for n = 1"),
    ("sum-monotone", "A sum grows with the number of its terms.",
     "(sum a b) (sum c d) (<= a c) (> b d)", "(sum a b) (sum c d) (< a c) (>= b d)", "for a = -1 and c = 0"),
    ("sums-of-sums", "Sums of sums grow with the number of their terms.",
     "(tri a b) (tri c d) (< a c) (> b d)", "(tri a b) (tri c d) (< a c) (>= b d)", "for a = -1 and c = 0"),
    ("fibonacci-order", "Fibonacci's function with its calls in both orders.",
     "(fib a b) (fibr a c) (distinct b c)", "(fib a b) (fibr (+ a 1) c) (> a 2) (= b 5) (distinct b c)", "for a = 4"),
    ("fibonacci-monotone", "Fibonacci's function is monotone.",
     "(fib a b) (fib c d) (< a c) (> b d)", "(fib a b) (fib c d) (< a c) (>= b d)", "for a = 0 and c = 1"),
    ("fibonacci-doubled", "Fibonacci's function is at most a power of two.",
     "(fib a b) (pow2 a c) (> b c)", "(fib a b) (pow2 (- a 1) c) (< b c)", "for a = 3"),
    ("fibonacci-tribonacci", "Numbers of a recursion with three terms, and with two.",
     "(fib (- a 1) b) (trib a c) (> b c)", "(fib a b) (trib a c) (> b c)", "for a = 2"),
    ("powers-tree", "A power of two by one call and by two.",
     "(pow2 a b) (pow2t a c) (distinct b c)", "(pow2 a b) (pow2t (+ a 1) c) (distinct b c)", "for a = 0"),
    ("powers-of-four", "A power of four is at least a power of two.",
     "(pow2 a b) (pow4 a c) (> b c)", "(pow2 a b) (pow4 a c) (>= b c)", "for a = 0"),
    ("powers-monotone", "A power of two grows with its exponent.",
     "(pow2 a b) (pow2 c d) (<= a c) (> b d)", "(pow2 a b) (pow2 c d) (< a c) (>= b d)", "for a = -1 and c = 0"),
    ("hanoi-powers", "The number of moves is one less than a power of two.",
     "(hanoi a b) (pow2 a c) (distinct (+ b 1) c)", "(hanoi a b) (pow2 a c) (distinct b c)", "for a = 0"),
    ("factorial-powers", "A factorial is at least a power of two.",
     "(fact a b) (pow2 (- a 1) c) (>= a 1) (< b c)", "(fact a b) (pow2 a c) (>= a 1) (< b c)", "for a = 1"),
    ("parity", "No number is both even and odd.",
     "(even a b) (odd a c) (= b c)", "(even a b) (odd (+ a 1) c) (= b c)", "for a = 0"),
    ("halves", "Half a number grows with it.",
     "(half a b) (half c d) (<= a c) (> b d)", "(half a b) (half c d) (< a c) (>= b d)", "for a = 0 and c = 1"),
    ("logarithms", "The logarithm grows with its argument.",
     "(log a b) (log c d) (<= a c) (> b d)", "(log a b) (log c d) (< a c) (>= b d)", "for a = 0 and c = 1"),
    ("logarithms-powers", "The logarithm of a power of two is the exponent.",
     "(pow2 a b) (log b c) (>= a 0) (distinct a c)", "(pow2 a b) (log b c) (distinct a c)", "for a = -1"),
    ("maximum-commutes", "The maximum is the same in both orders.",
     "(max a b c) (max b a d) (>= a 0) (>= b 0) (distinct c d)", "(max a b c) (max b a d) (distinct c d)", "for a = -1 and b = -2"),
    ("maximum-monotone", "The maximum grows with both arguments.",
     "(max a b c) (max d e f) (<= a d) (<= b e) (> c f)", "(max a b c) (max d e f) (<= a d) (< b e) (>= c f)", "for a = d = 5, b = 1, e = 2"),
    ("divisor-commutes", "The greatest common divisor is the same in both orders.",
     "(gcd a b c) (gcd b a d) (> a 0) (> b 0) (distinct c d)", "(gcd a b c) (gcd b (+ a 1) d) (> a 0) (> b 0) (distinct c d)", "gcd(2, 2) is 2, gcd(2, 3) is 1"),
    ("divisor-doubled", "The divisor of two even numbers is twice that of their halves.",
     "(gcd a b c) (gcd (+ a a) (+ b b) d) (> a 0) (> b 0) (distinct d (+ c c))",
     "(gcd a b c) (gcd (+ a a) (+ b b) d) (> a 0) (> b 0) (distinct d c)", "gcd(2, 2) is 2"),
    ("product-sum-left", "A product with a sum, on the left.",
     "(mult a b c) (mult d b e) (mult (+ a d) b f) (>= a 0) (>= d 0) (distinct f (+ c e))",
     "(mult a b c) (mult d b e) (mult (+ a d 1) b f) (>= a 0) (>= d 0) (distinct f (+ c e))", "for a = d = 0 and b = 1"),
    ("product-sum-right", "A product with a sum, on the right.",
     "(mult a b c) (mult a d e) (mult a (+ b d) f) (distinct f (+ c e))",
     "(mult a b c) (mult a d e) (mult a (+ b d 1) f) (distinct f (+ c e))", "for a = 1"),
    ("product-monotone", "A product grows with its second factor.",
     "(mult a b c) (mult a d e) (<= b d) (> c e)", "(mult a b c) (mult a d e) (< b d) (>= c e)", "for a = 0"),
    ("quotients", "A quotient by three, by steps of three and of six.",
     "(quot a b) (quot6 a c) (distinct b c)", "(quot a b) (quot6 (+ a 1) c) (distinct b c)", "for a = 2"),
    ("remainders", "A remainder by three, by steps of three and of six.",
     "(rest a b) (rest6 a c) (distinct b c)", "(rest a b) (rest6 (+ a 3) c) (distinct b c)", "for a = -3"),
    ("remainders-sum", "The remainder of a sum is that of the sum of the remainders.",
     "(residue x y a) (residue z y b) (residue (+ a b) y c) (residue (+ x z) y e) (> y 0) (>= x 0) (>= z 0) (distinct c e)",
     "(residue x y a) (residue z y b) (residue (+ x z) y e) (> y 0) (>= x 0) (>= z 0) (distinct e (+ a b))",
     "for x = z = 1 and y = 2"),
    ("mccarthy", "McCarthy's function has one value.",
     "(mc a b) (mc a c) (distinct b c)", "(mc a b) (mc c d) (< a c) (>= b d)", "for a = 99 and c = 100"),
    ("ackermann", "Ackermann's function has one value.",
     "(ack a b c) (ack a b d) (distinct c d)", "(ack a b c) (ack a d e) (< b d) (> c 2) (>= (+ c 1) e)", "for a = 0, b = 2 and d = 3"),
    ("secret-counter", "What is seen does not depend on a secret that the loop changes.",
     "(quiet g l a) (quiet h l b) (distinct a b)", "(quiet g l a) (quiet h (+ l 1) b) (distinct a b)", "for l = 0"),
    ("secret-branch", "Both branches on a secret have the same effect.",
     "(equal g l a) (equal h l b) (distinct a b)", "(leak g l a) (leak h l b) (distinct a b)", "for g = 8, h = 7 and l = 1"),
    ("secret-path", "The result does not depend on the path that a secret chooses.",
     "(sift g l a) (sift h l b) (distinct a b)", "(sift g l a) (sift h l b) (steps g l c) (steps h l d) (distinct c d)", "for g = 0 and h = 1"),
    ("lists-length", "A function on all elements keeps the length.",
     "(inc l m) (len l a) (len m b) (distinct a b)", "(inc l m) (len l a) (len (cons 0 m) b) (distinct a b)", "for the empty list"),
    ("lists-fusion", "One function on all elements after another, and their composition.",
     "(inc l m) (inc m n) (inc2 l k) (distinct n k)", "(inc l m) (inc m n) (inc2 m k) (distinct n k)", "for a list of one element"),
    ("lists-total", "The total by recursion and with an accumulator.",
     "(total l a) (totala l 0 b) (distinct a b)", "(total l a) (totala l 1 b) (distinct a b)", "for the empty list"),
    ("lists-drop", "Elements are dropped in two steps, in both orders.",
     "(drop m a b) (drop n b c) (drop n a d) (drop m d e) (distinct c e)",
     "(drop m a b) (drop n b c) (drop n a d) (drop m d e) (distinct b d)", "for m = 0, n = 1 and a list of one element"),
    ("lists-rotate", "A list is rotated in two steps, in both orders.",
     "(rotate m a b) (rotate n b c) (rotate n a d) (rotate m d e) (distinct c e)",
     "(rotate m a b) (rotate n b c) (rotate n a d) (rotate m d e) (distinct b d)", "for m = 0, n = 1 and a list of two elements"),
    ("lists-reverse", "A list that is reversed twice is itself.",
     "(reverse a b) (reverse b c) (distinct a c)", "(reverse a b) (reverse b c) (distinct b c)", "for a list of two elements"),
    ("lists-sort", "Sorting keeps how often an element occurs.",
     "(sort a b) (occurs x a m) (occurs x b n) (distinct m n)",
     "(sort a b) (occurs x a m) (occurs x b n) (distinct (+ m x) n)", "for the empty list and x = 1"),
]
# Sorts other than numbers: the declaration, and which word of a compound term is a variable of the sort.
SORTS = {
    "L": ("(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))", -1),
    "A": ("(define-sort A () (Array Int Int))", 1),
}
# Statements that the default does not decide in a few seconds.
HARD = {"loop-up-down-safe": "the loops meet different arguments in each step",
        "arrays-strength-safe": "the loops agree only while v = 2 i"}


def words(text):
    """The names in a text."""
    return text.replace("(", " ").replace(")", " ").split()


def needed(query):
    """The programs of a query, with those that they call."""
    found = []
    todo = [word for word in words(query) if word in PROGRAMS]
    while todo:
        name = todo.pop(0)
        if name not in found:
            found.append(name)
            todo += NEEDS.get(name, [])
    return found


def parts(text):
    """The S-expressions of a text."""
    found, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char == "(":
            start = at if depth == 0 else start
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                found.append(text[start:at + 1])
    return found


def assertion(body, head):
    """A clause, with its variables quantified."""
    names = sorted({word for word in words(" ".join([*body, head])) if len(word) == 1 and word.isalpha()})
    sorts = {}
    for atom in parts(" ".join([*body, head])):
        name, *rest = words(atom)[:1] + arguments(atom)
        if name in PROGRAMS:
            for sort, argument in zip(PROGRAMS[name][0].split(), rest):
                if sort in SORTS:
                    # `(cons x l)` and `(store a i v)` have one variable of the sort.
                    sorts[argument if len(argument) == 1 else words(argument)[SORTS[sort][1]]] = sort
    quantified = " ".join(f"({name} {sorts.get(name, 'Int')})" for name in names)
    premise = f"(and {' '.join(body)})" if len(body) > 1 else "".join(body)
    formula = f"(=> {premise} {head})" if body else head
    return f"(assert (forall ({quantified}) {formula}))" if names else f"(assert {formula})"


def arguments(atom):
    """The arguments of an atom."""
    inner = atom[1:-1].split(None, 1)
    found, rest = [], inner[1] if len(inner) > 1 else ""
    while rest.strip():
        rest = rest.strip()
        end = len(parts(rest)[0]) if rest.startswith("(") else len(rest.split(None, 1)[0])
        found.append(rest[:end])
        rest = rest[end:]
    return found


def task(what, query):
    """The text of a task."""
    programs = needed(query)
    lines = [f"; {what}", "(set-logic HORN)"]
    for sort, (declaration, _) in SORTS.items():
        if any(sort in PROGRAMS[name][0].split() for name in programs):
            lines.append(declaration)
    lines += [f"(declare-fun {name} ({PROGRAMS[name][0]}) Bool)" for name in programs]
    for name in programs:
        for clause in PROGRAMS[name][1]:
            head, body = clause.split("<-")
            lines.append(assertion(parts(body), head.strip()))
    lines.append(assertion(parts(query), "false"))
    return "\n".join([*lines, "(check-sat)", ""])


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "relational"
    folder.mkdir(exist_ok=True)
    for name, what, safe, unsafe, why, *_ in TASKS:
        for variant, query, says in [("safe", safe, what), ("unsafe", unsafe, f"{what} Not so: {why}.")]:
            stem = f"{name}-{variant}"
            (folder / f"{stem}.smt2").write_text(task(says, query), encoding="utf-8")
            hard = f"# hard: {HARD[stem]}\n" if stem in HARD else ""
            (folder / f"{stem}.yml").write_text(
                f"format_version: '2.0'\n{hard}input_files: '{stem}.smt2'\nproperties:\n"
                f"  - property_file: ../properties/check-sat.prp\n    expected_verdict: {str(variant == 'safe').lower()}\n",
                encoding="utf-8")


if __name__ == "__main__":
    main()
