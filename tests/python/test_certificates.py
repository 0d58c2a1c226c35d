"""Certificates that stand alone: of planted systems they are valid, and with a mistake they are not."""

import os
import random
import re
import subprocess
import sys
import unittest

from common import ROOT, Folder
from models import TOKEN

VALIDATE = ROOT / "scripts/validate"
MUTATIONS = 60

# Every number and every step matters: five is reached in five steps, and by no other way.
UNSAFE = """(set-logic HORN)
(declare-datatype Pair ((pair (left Int) (right Bool))))
(declare-fun P (Int Pair) Bool)
(declare-fun |a b| (Int) Bool)
(define-fun next ((x Int)) Int (+ x 1))
(assert (forall ((x Int)) (=> (= x 0) (P x (pair 7 true)))))
(assert (not (exists ((x Int) (p Pair)) (and (P x p) (< x 5) (not (P (next x) p))))))
(assert (forall ((x Int)) (=> (exists ((p Pair)) (and (P x p) (= 7 (left p)) (right p))) (|a b| (* 2 x)))))
(assert (=> (|a b| 10) false))
(check-sat)
"""
SAFE = """(set-logic HORN)
(declare-fun P (Int Int) Bool)
(declare-fun |a b| (Int) Bool)
(define-fun next ((x Int)) Int (+ x 2))
(assert (forall ((x Int)) (=> (= x 4) (P x x))))
(assert (forall ((x Int) (y Int)) (=> (P x y) (P (next x) (next y)))))
(assert (forall ((x Int) (y Int)) (=> (P x y) (|a b| (- x y)))))
(assert (not (exists ((x Int)) (and (|a b| x) (distinct x 0)))))
(check-sat)
"""
RULES = """(declare-rel P (Int Int))
(declare-rel bad (Int))
(declare-var y Int)
(declare-var x Int)
(rule (P 0 1))
(rule (=> (and (P x y) (< x 3)) (P (+ x 1) y)))
(rule (=> (and (P x y) (= x 3)) (bad y)))
(query bad)
"""
# Names that solvers have, variables with names of functions, and what solvers reject.
NAMES = """(set-logic HORN)
(declare-datatype bool ((true) (false)))
(declare-datatypes ((Set 0)) (((seq.unit (max Int)))))
(declare-fun |let| ((Set)) Bool)
(declare-fun mod (Int Int) Bool)
(assert (forall () (! (|let| (seq.unit 0)) :named first)))
(assert (forall ((max Set)) (=> (and (|let| max) (is-seq.unit max)) (mod (max max) LIMIT))))
(assert (forall ((x Int) (mod Int)) (=> (and (mod x mod) (<= 0 x)) (! (< x 3) :named n))))
(assert (forall ((x Set)) (=> (|let| x) (|let| (seq.unit (+ 2 (max x)))))))
(assert (forall ((x Int)) (=> (mod x 7) (< x 5))))
(check-sat)
"""
# Sorts with abbreviations, which models write out, and constant arrays with other spaces.
SORTS = """(set-logic HORN)
(define-sort Addr () Int)
(define-sort Map (T) (Array Addr T))
(declare-fun P (Addr (Map Bool)) Bool)
(assert (P 0 (( as const (Map Bool)) true)))
(assert (forall ((a Addr) (m (Map Bool))) (=> (and (P a m) (not (select m a))) false)))
(check-sat)
"""
SORTS_MODEL = """sat
(
(define-fun P ((x!0 Int) (x!1 (Array Int Bool))) Bool (and (= x!0 0) (= x!1 ((as const (Array Int Bool)) true))))
)
"""
LISTS = """(set-logic HORN)
(declare-fun P ((List Int)) Bool)
(assert (P nil))
(assert (forall ((l (List Int))) (=> (P l) (P (insert 1 l)))))
(assert (forall ((l (List Int))) (=> (and (P l) (is-insert l) (= LIMIT (head l))) false)))
(check-sat)
"""


class Certificates(Folder):
    def made(self, task, text, *options):
        """The certificate of a task, which is written to a file."""
        path, out = self.folder / f"{task}.smt2", self.folder / f"{task}.certificate"
        path.write_text(text, encoding="utf-8")
        alphorn = os.environ.get("ALPHORN") or str(ROOT / "target/release/alphorn")
        command = [alphorn, *options, str(path), "--certificate", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        return path, out.read_text(encoding="utf-8")

    def judged(self, task, certificate, solver="z3"):
        out = self.folder / "judged"
        out.write_text(certificate, encoding="utf-8")
        python = ROOT / "third_party/py/bin/python"
        command = [str(python) if python.exists() else sys.executable, str(VALIDATE), str(task), str(out)]
        done = subprocess.run([*command, "--solver", solver], capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.stdout.strip()

    def assert_refused(self, task, certificate, what):
        answer = self.judged(task, certificate)
        self.assertRegex(answer, "^(invalid|malformed|unknown): ", what)

    def test_both_solvers_confirm(self):
        for name, text in [("safe", SAFE), ("unsafe", UNSAFE), ("rules", RULES)]:
            for jobs in ["1", "2"]:
                task, certificate = self.made(name, text, "--jobs", jobs)
                for solver in ["z3", "cvc5"]:
                    self.assertEqual(self.judged(task, certificate, solver), "valid", name)
        self.assertTrue(certificate.startswith("; alphorn certificate 1: a refutation\n"))

    def test_abbreviated_sorts(self):
        task = self.folder / "sorts.smt2"
        task.write_text(SORTS, encoding="utf-8")
        for solver in ["z3", "cvc5"]:
            self.assertEqual(self.judged(task, SORTS_MODEL, solver), "valid", solver)
        wrong = SORTS_MODEL.replace("(x!1 (Array Int Bool))", "(x!1 (Array Bool Int))")
        self.assertEqual(self.judged(task, wrong), "malformed: the sorts of P differ")
        wrong = SORTS_MODEL.replace(" true)))", " false)))")
        self.assertRegex(self.judged(task, wrong), "^invalid: clause")

    def test_names_of_solvers(self):
        texts = [("names-unsafe", NAMES, "7"), ("names-safe", NAMES.replace("(+ 2 (max x))", "(max x)"), "7")]
        texts += [("lists-unsafe", LISTS, "1"), ("lists-safe", LISTS, "2")]
        for name, text, limit in texts:
            task, certificate = self.made(name, text.replace("LIMIT", limit), "--jobs", "1")
            self.assertIn(" stands for ", certificate)
            # cvc5 wants a sort at `nil`, which Z3's texts do not have.
            for solver in ["z3"] if name.startswith("lists") else ["z3", "cvc5"]:
                self.assertEqual(self.judged(task, certificate, solver), "valid", name)
            # A name that is not the task's.
            new = re.search("^; (\\S+) stands for", certificate, re.MULTILINE)[1]
            self.assert_refused(task, certificate.replace(f"; {new} stands", "; new! stands"), name)

    def test_a_predicate_beside_the_operation_of_its_name(self):
        text = """(set-logic HORN)
(declare-fun mod (Int Int) Bool)
(assert (mod 0 0))
(assert (forall ((x Int)) (=> (and (mod x x) ((_ divisible 2) x)) (mod (+ x 2) (+ x 2)))))
(assert (forall ((x Int)) (=> (mod x x) (not (= x LIMIT)))))
(check-sat)
"""
        for name, limit in [("safe", "3"), ("unsafe", "4")]:
            task, certificate = self.made(name, text.replace("LIMIT", limit), "--jobs", "1")
            for solver in ["z3", "cvc5"]:
                self.assertEqual(self.judged(task, certificate, solver), "valid", name)
            task.write_text(task.read_text(encoding="utf-8").replace("divisible 2", "divisible 4"), encoding="utf-8")
            self.assert_refused(task, certificate, name)

    def test_models_with_more_than_predicates(self):
        for name, text, mistakes in [
            (
                "constants",
                "(declare-const n Int)(declare-fun f (Int) Int)(declare-fun P (Int) Bool)(assert (= n (f 1)))"
                "(assert (= n 5))(assert (forall ((x Int)) (= (P x) (> x n))))(check-sat)",
                [("n () Int 5", "n () Int 6"), ("n () Int 5", "n () Real 5.0")],
            ),
            (
                "sorts",
                "(declare-sort X 0)(declare-const a X)(declare-fun P (X) Bool)(assert (P a))"
                "(assert (forall ((x X)) (=> (P x) (= x a))))(check-sat)",
                [("a () X ", "a () X 1"), ("X () Int", "X () Real")],
            ),
            (
                "divisors",
                "(set-logic HORN)(declare-fun P (Int) Bool)(assert (P 0))"
                "(assert (forall ((x Int)) (=> (P x) (P (+ x 3)))))"
                "(assert (forall ((x Int)) (=> (P x) ((_ divisible 3) x))))(check-sat)",
                [("Bool (", "Bool (and ")],
            ),
        ]:
            task = self.folder / f"{name}.smt2"
            task.write_text(text, encoding="utf-8")
            alphorn = os.environ.get("ALPHORN") or str(ROOT / "target/release/alphorn")
            command = [alphorn, "-q", "--jobs", "1", "--model", str(task)]
            model = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            self.assertTrue(model.startswith("sat"), model)
            for solver in ["z3", "cvc5"]:
                self.assertEqual(self.judged(task, model, solver), "valid", model)
            for old, new in mistakes:
                self.assertIn(old, model)
                self.assert_refused(task, model.replace(old, new), name)

    def test_cvc5_proves_each_check(self):
        _, certificate = self.made("safe", SAFE)
        script, folder = self.folder / "script.smt2", self.folder / "proofs"
        script.write_text(certificate, encoding="utf-8")
        python = ROOT / "third_party/py/bin/python"
        command = [str(python), str(ROOT / "scripts/cvc5-check.py"), str(script), "--proofs", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout.split(), done.stderr), (["unsat"] * 4, ""))
        proofs = sorted(path.name for path in folder.iterdir())
        self.assertEqual(proofs, [f"check-{number}.cpc" for number in range(1, 5)])
        for name in proofs:
            # The last step is the contradiction.
            self.assertRegex((folder / name).read_text(encoding="utf-8"), r"\n\(step @p\d+ false :rule [^\n]*\n\)")

    def test_a_certificate_of_another_task(self):
        task, certificate = self.made("safe", SAFE)
        task.write_text(SAFE.replace("(= x 4)", "(>= x 4)"), encoding="utf-8")
        self.assert_refused(task, certificate, "another constraint")
        task.write_text(SAFE.replace("(+ x 2)", "(+ x 3)"), encoding="utf-8")
        self.assert_refused(task, certificate, "another definition")
        task, certificate = self.made("unsafe", UNSAFE)
        task.write_text(UNSAFE.replace("(< x 5)", "(< x 4)"), encoding="utf-8")
        self.assert_refused(task, certificate, "another constraint")

    def mutated(self, certificate, picked):
        """Texts in which one token, of those that `picked` says yes to, is gone or another one."""
        tokens = [match for match in TOKEN.finditer(certificate) if match.group(1) or match.group(2)]
        choice = random.Random(7)
        words = sorted({match.group(match.lastindex) for match in tokens})
        for match in choice.sample([m for m in tokens if picked(m)], MUTATIONS):
            begin, end = match.span(match.lastindex)
            old = certificate[begin:end]
            new = choice.choice([word for word in [*words, "", "99"] if word != old])
            yield f"{certificate[:begin]} {new} {certificate[end:]}", f"{new!r} for {old!r} at {begin}"

    def test_mutated_refutations(self):
        task, certificate = self.made("unsafe", UNSAFE)
        for text, what in self.mutated(certificate, lambda match: True):
            self.assert_refused(task, text, what)
        # Each step is needed.
        lines = certificate.splitlines(keepends=True)
        for number, line in enumerate(lines):
            if line.startswith("(assert "):
                self.assert_refused(task, "".join(lines[:number] + lines[number + 1:]), line)

    def test_mutated_models(self):
        task, certificate = self.made("safe", SAFE)
        # Another formula for a predicate may be a model as well.
        places = [range(m.start(), certificate.index("\n", m.start()))
                  for m in TOKEN.finditer(certificate) if certificate[m.start():].lstrip().startswith("(define-fun")]

        def outside(match):
            return not any(match.start() in place for place in places)

        for text, what in self.mutated(certificate, outside):
            self.assert_refused(task, text, what)
        for body in ["true", "false", "(= x!0 4)"]:
            lines = [f"{line.split(') Bool ')[0]}) Bool {body})" if line.startswith("(define-fun P") else line
                     for line in certificate.splitlines()]
            self.assert_refused(task, "\n".join(lines), body)

    def test_tricks(self):
        task, certificate = self.made("unsafe", UNSAFE)
        for old, new in [
            ("(check-sat)", "(assert false)\n(check-sat)"),
            ("(check-sat)", "(define-fun no () Bool false)\n(assert no)\n(check-sat)"),
            ("(check-sat)", "(check-sat)\n(check-sat)"),
            ("(check-sat)", "(echo \"unsat\")"),
            ("(set-logic ALL)", "(set-logic ALL)\n(define-fun < ((x Int) (y Int)) Bool true)"),
            ("(set-logic ALL)", "(set-logic ALL)\n(define-fun not ((x Bool)) Bool x)"),
            ("(set-logic ALL)", "(set-logic ALL)\n(declare-fun instance!9 () Bool)"),
            ("v!0 Int", "v!0 Real"),
            ("(declare-fun P (Int Pair) Bool)", "(define-fun P ((x Int) (p Pair)) Bool true)"),
            ("(right p)", "(right p) false"),
        ]:
            self.assertIn(old, certificate)
            self.assert_refused(task, certificate.replace(old, new, 1), new)
        task, certificate = self.made("safe", SAFE)
        for old, new in [
            ("(push 1)", "(push 1)\n(assert false)"),
            ("(set-logic ALL)", "(set-logic ALL)\n(assert false)"),
            ("(set-logic ALL)", "(set-logic ALL)\n(define-fun distinct ((x Int) (y Int)) Bool false)"),
            ("a model", "a model with recursive functions"),
            ("a model", "a refutation"),
            ("(assert (not (forall", "(assert (not (exists"),
        ]:
            self.assertIn(old, certificate)
            self.assert_refused(task, certificate.replace(old, new, 1), new)
        # A check less.
        first, second = certificate.index("(push 1)"), certificate.index("(push 1)", certificate.index("(pop 1)"))
        self.assert_refused(task, certificate[:first] + certificate[second:], "a check less")

    def test_without_an_answer(self):
        hard = SAFE.replace("(distinct x 0)", "(= (* x x x) 42)").replace("(- x y)", "(* x y)")
        _, certificate = self.made("hard", hard, "--timeout", "0.05", "--jobs", "1", "--engine", "bmc")
        self.assertTrue(certificate in ("", "; alphorn certificate 1: none\n; timeout\n"), certificate)


if __name__ == "__main__":
    unittest.main()
