"""One problem of two programs, or of two runs (`scripts/compare`)."""

import contextlib
import io
import os
import subprocess
import sys
import unittest

from common import ROOT, Folder, module_of

COMPARE = module_of(ROOT / "scripts/compare")

SUM = """(set-logic HORN)
(declare-fun sum (Int Int) Bool)
(assert (forall ((n Int)) (=> (<= n 0) (sum n 0))))
(assert (forall ((n Int) (s Int)) (=> (and (> n 0) (sum (- n 1) s)) (sum n (+ n s)))))
(assert (forall ((n Int) (s Int)) (=> (and (sum n s) (< s 0)) false)))
(check-sat)
"""
LOOP = """(set-logic HORN)
(declare-fun loop (Int Int Int) Bool)
(declare-fun sum (Int Int) Bool)
(assert (forall ((n Int) (a Int)) (=> (<= n 0) (loop n a a))))
(assert (forall ((n Int) (a Int) (r Int)) (=> (and (> n 0) (loop (- n 1) (+ a n) r)) (loop n a r))))
(assert (forall ((n Int) (r Int)) (=> (loop n 0 r) (sum n r))))
(check-sat)
"""
SECRET = """(declare-fun run (Int Int Int) Bool)
(assert (forall ((h Int) (l Int)) (=> (<= l 0) (run h l 0))))
(assert (forall ((h Int) (l Int) (r Int)) (=> (and (> l 0) (run (+ h 1) (- l 1) r)) (run h l (+ r 2)))))
"""
LEAK = SECRET.replace("(+ r 2)", "(+ r (ite (> h 3) 1 2))")


class Compare(Folder):
    def run_compare(self, *words):
        out, errors, argv = io.StringIO(), io.StringIO(), sys.argv
        sys.argv = ["compare", *map(str, words)]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
                status = COMPARE.main()
        finally:
            sys.argv = argv
        return status, out.getvalue(), errors.getvalue()

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def answer(self, text, *options):
        """The answer of alphorn, if there is one to ask."""
        program = os.environ.get("ALPHORN")
        if not program:
            self.skipTest("ALPHORN names no program")
        path = self.file("problem.smt2", text)
        done = subprocess.run([program, "--jobs", "1", "--timeout", "30", *options, path], capture_output=True, text=True, check=False)
        return done.stdout

    def problem(self, second=LOOP, *options):
        first, second = self.file("a.smt2", SUM), self.file("b.smt2", second)
        status, out, errors = self.run_compare(first, "sum", second, "sum", "--inputs", "0", "--outputs", "1", *options)
        self.assertEqual((status, errors), (0, ""))
        return out

    def test_names_do_not_clash_and_queries_are_left_out(self):
        out = self.problem()
        self.assertIn("(declare-fun sum!2 (Int Int) Bool)", out)
        self.assertIn("(=> (loop n 0 r) (sum!2 n r))", out)
        self.assertNotIn("(< s 0)", out)
        self.assertIn("(and (sum i!0 l!1) (sum!2 i!0 r!1) (not (= l!1 r!1)))", out)
        self.assertEqual(out.count("(check-sat)"), 1)
        self.assertIn("(> i!0 1) (not", self.problem(LOOP, "--where", "(> i!0 1)"))

    def test_self_composition(self):
        path = self.file("c.smt2", SECRET)
        status, out, _ = self.run_compare(path, "run", "--self", "--low", "1", "--outputs", "2")
        self.assertEqual(status, 0)
        self.assertIn("(and (run l!0 i!0 l!2) (run r!0 i!0 r!2) (not (= l!2 r!2)))", out)

    def test_mistakes_are_told(self):
        first, second = self.file("a.smt2", SUM), self.file("b.smt2", LOOP)
        for words, message in [
            ([first, "sim", second, "sum", "--inputs", "0", "--outputs", "1"], "declares no predicate sim"),
            ([first, "sum", second, "loop", "--inputs", "0", "--outputs", "7"], "no positions"),
            ([first, "sum", second, "sum", "--inputs", "0"], "or there are none"),
            ([first, "sum", "nowhere.smt2", "sum", "--inputs", "0", "--outputs", "1"], "nowhere"),
        ]:
            status, out, errors = self.run_compare(*words)
            self.assertEqual((status, out), (1, ""))
            self.assertIn(message, errors)

    def test_programs_that_agree_and_that_do_not(self):
        self.assertTrue(self.answer(self.problem()).startswith("sat"))
        wrong = self.problem(LOOP.replace("(loop n 0 r)", "(loop n 1 r)"), "--where", "(> i!0 1)")
        output = self.answer(wrong, "--proof")
        self.assertTrue(output.startswith("unsat"), output)
        columns = COMPARE.side_by_side(output).splitlines()
        self.assertEqual(columns[-1].split("  |  "), ["sum(2, 3)", "sum!2(2, 4)"])

    def test_secrets(self):
        for text, word in [(SECRET, "sat"), (LEAK, "unsat")]:
            path = self.file("c.smt2", text)
            _, out, _ = self.run_compare(path, "run", "--self", "--low", "1", "--outputs", "2")
            self.assertTrue(self.answer(out).startswith(word), text)


if __name__ == "__main__":
    unittest.main()
