"""The script that asks of models what the competition asks."""

import subprocess
import sys
import unittest

from common import MOCK, ROOT, Folder

TRACK = ROOT / "scripts/model-track"

# Counts up by two from 0 and never reaches 7.
CLAUSES = """(set-logic HORN)
(declare-fun |P q| (Int) Bool)
(assert (forall ((x Int)) (=> (= x 0) (|P q| x))))
(assert (forall ((x Int) (y Int)) (=> (and (|P q| x) (= y (+ x 2))) (|P q| y))))
(assert (forall ((x Int)) (=> (and (|P q| x) (= x 7)) false)))
(check-sat)
"""
GOOD = "(define-fun |P q| ((x!0 Int)) Bool (= (mod x!0 2) 0))"
# Not preserved by the second clause.
WRONG = "(define-fun |P q| ((x!0 Int)) Bool (= x!0 0))"
FUNCTION = "(define-fun-rec f! ((n Int)) Bool (ite (> n 1) (f! (- n 2)) (= n 0)))"


class ModelTrack(Folder):
    def clauses(self, name, steps, *model):
        """Writes a task for which the mock solver prints a model."""
        lines = [f"; mock: {steps}", *(f"; {line}" for line in model)]
        path = self.folder / f"{name}.smt2"
        path.write_text("\n".join([*lines, CLAUSES]), encoding="utf-8")

    def track(self, *words, status=0):
        """Runs the script over the list; its standard output."""
        done = subprocess.run(
            [
                sys.executable, str(TRACK), "list.tsv", "--checkout", ".", "--out", "out.tsv",
                *words, "--", sys.executable, str(MOCK), "{file}",
            ],
            capture_output=True,
            text=True,
            cwd=self.folder,
            check=False,
            timeout=60,
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def result(self, name):
        """Kind of the model, and result, of a task."""
        row = self.rows()[f"{name}.smt2"]
        return row[7], row[9]

    def test_what_counts(self):
        self.clauses("good", "sat comments", "(", GOOD, ")")
        self.clauses("wrong", "sat comments", "(", WRONG, ")")
        self.clauses("recursive", "sat comments", "(", FUNCTION, GOOD, ")")
        self.clauses("nothing", "sat")
        self.clauses("open", "unknown")
        names = ("good", "wrong", "recursive", "nothing", "open")
        rows = [("A" if name == "good" else "B", f"{name}.smt2", "sat") for name in names]
        self.listed(*rows, ("B", "none.smt2", "unsat"))
        lines = self.track(status=1).splitlines()
        self.assertEqual(self.result("good"), ("plain", "confirmed"))
        self.assertEqual(self.result("wrong"), ("plain", "wrong"))
        self.assertEqual(self.result("recursive"), ("recursive", "recursive"))
        self.assertEqual(self.result("nothing")[1], "malformed: no definition of |P q|")
        self.assertEqual(self.result("open"), ("-", "-"))
        # What is not recorded as sat is not run.
        self.assertNotIn("none.smt2", self.rows())
        # `=`, `mod`, `x!0`, `2` and `0`.
        self.assertEqual(self.rows()["good.smt2"][5:7], [str(len(f"(\n{GOOD}\n)\n")), "5"])
        cells = [[cell.strip() for cell in line.split("|")[1:6]] for line in lines[2:5]]
        self.assertEqual(cells[0], ["A", "1", "1", "1", "100.0"])
        self.assertEqual(cells[1], ["B", "4", "3", "0", "0.0"])
        self.assertEqual(cells[2], ["all", "5", "4", "1", "25.0"])
        self.assertEqual([line.partition(":")[0] for line in lines[5:]], ["wrong", "recursive", "malformed"])

    def test_it_goes_on(self):
        self.clauses("first", "log=log sat comments", "(", GOOD, ")")
        self.clauses("second", "log=log sat comments", "(", GOOD, ")")
        self.listed(("A", "first.smt2", "sat"), ("A", "second.smt2", "unknown"))
        self.track()
        self.assertEqual(list(self.rows()), ["first.smt2"])
        # A line that was cut off is run again, a whole one is not.
        with (self.folder / "out.tsv").open("a", encoding="utf-8") as file:
            file.write("A\tsecond.smt2\tsat")
        self.track("--all", "--keep", "kept")
        self.assertEqual([row[9] for row in self.rows().values()], ["confirmed", "confirmed"])
        log = (self.folder / "log").read_text(encoding="utf-8").split()[::2]
        self.assertEqual(log, ["first.smt2", "second.smt2"])
        kept = (self.folder / "kept/second.smt2.out").read_text(encoding="utf-8")
        self.assertEqual(kept, f"sat\n(\n{GOOD}\n)\n")

    def test_a_run_is_ended(self):
        self.clauses("late", "sleep=60 sat comments", GOOD)
        self.listed(("A", "late.smt2", "sat"))
        self.track("--seconds", "0.1")
        row = self.rows()["late.smt2"]
        self.assertEqual(row[3], "none")
        self.assertLess(float(row[4]), 50)

    def test_wrong_usage(self):
        self.track(status=2)


if __name__ == "__main__":
    unittest.main()
