"""Leaving one engine or pass out (`scripts/ablate`), with a solver that is a mock."""

import subprocess
import sys
import unittest

from common import MOCK, ROOT, Folder, module_of

ABLATE = module_of(ROOT / "scripts/ablate")

# Lists its engines and passes as the program does. The second line of a task is the part that its
# answer needs, the third one goes to standard error.
SOLVER = f"""#!{sys.executable}
import os, sys
words = sys.argv[1:]
if words == ["--engine", "?"]:
    sys.exit("there is no engine ?: the engines are auto, pdr, bmc, tpa")
if words == ["--help"]:
    print('''Options:
      --passes <LIST>
          The passes to apply; `default` for the default:

          inline   resolve predicates
          merge    let calls have
                   one result
          folds    add folds (only
          where it is named)

      --graph <FILE>
          Write a graph; see  cone''')
    sys.exit()
value = dict(zip(words, words[1:]))
with open(words[-1]) as file:
    lines = [line[1:].strip() for line in file]
with open(os.path.join(os.path.dirname(words[-1]), "calls"), "a") as calls:
    calls.write(os.path.basename(words[-1]) + " " + " ".join(words[:-1]) + "\\n")
engine = value.get("--engine", "auto")
passes = value.get("--passes", "inline,merge").split(",")
gone = value.get("--without", "").split(",") + [p for p in ("inline", "merge") if p not in passes]
print(lines[2].replace("|", "\\n"), file=sys.stderr)
if lines[1] in gone or lines[1].startswith("alone:") and lines[1] != "alone:" + engine:
    print("unknown")
    sys.exit()
os.execv(sys.executable, [sys.executable, {str(MOCK)!r}, words[-1]])
"""


class Ablate(Folder):
    def setUp(self):
        super().setUp()
        self.solver = self.folder / "solver"
        self.solver.write_text(SOLVER, encoding="utf-8")
        self.solver.chmod(0o755)

    def task(self, name, steps, needs="nothing", log="", **_):
        """A task that is answered by the steps if what it needs is not left out."""
        path = self.folder / f"{name}.smt2"
        path.write_text(f"; mock: {steps}\n; {needs}\n; {log}\n", encoding="utf-8")

    def ablate(self, *words, status=0, program=None):
        """Runs the script; the lines of its table by part, and the calls of the solver."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "scripts/ablate"), "--out", "out", "--tasks", "list.tsv",
             *words, "--", str(program or self.solver)],
            capture_output=True, text=True, cwd=self.folder, check=False, timeout=60,
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        lines = done.stdout.splitlines()
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
        calls = self.folder / "calls"
        text = calls.read_text() if calls.exists() else ""
        calls.unlink(missing_ok=True)
        return {row[0]: row[1:] for row in rows if row}, text.splitlines()

    def three(self):
        """Three tasks: one that needs tpa, one that is open, one by pdr with lemmas of tpa."""
        self.task("a", "sat", "tpa", "[INFO x] engine bmc: timeout|[INFO x] engine tpa: a model")
        self.task("b", "unknown", "alone:bmc", "[INFO x] pass merge: clauses 3 -> 2|"
                  "[INFO x] engine tpa: timeout")
        self.task("c", "unsat", "inline", "[INFO x] pass inline: clauses 3 -> 2|"
                  "[INFO x] engine tpa: timeout|[INFO x] pass lemmas: clauses 3 -> 3|"
                  "[INFO x] engine pdr: a refutation of 3 steps")
        self.listed(("T", "a.smt2", "sat"), ("T", "b.smt2", "unsolved"), ("U", "c.smt2", "unsat"))

    def test_parts(self):
        self.assertEqual(
            ABLATE.parts_of([str(self.solver)]), (["pdr", "bmc", "tpa"], ["inline", "merge"])
        )
        every = ["engine:pdr", "engine:bmc", "pass:bmc", "pass:cone"]
        found = ABLATE.chosen("cone,engine:bmc,engines", every)
        self.assertEqual(found, ["pass:cone", "engine:bmc", "engine:pdr"])
        for name in ("bmc", "none"):
            with self.assertRaises(LookupError):
                ABLATE.chosen(name, every)
        self.three()
        self.ablate("--parts", "spacer", status=2)
        self.ablate(program=sys.executable, status=2)

    def test_log(self):
        found = ABLATE.read_log(
            "[INFO a] pass inline: clauses 2 -> 1, predicates\n[DEBUG a] pass cone: no change\n"
            "[INFO a] pass lemmas: clauses 1 -> 1\n[INFO b] engine bmc: a model\n"
            "[INFO b] engine pdr: timeout\n[INFO a] pass lemmas: clauses 1 -> 1\n"
            "[INFO b] engine pdr: a refutation of 2 steps\n[INFO b] engine vinta: timeout\n"
        )
        self.assertEqual(found, dict(
            engine="pdr", stage="", passes=["inline"], turns=["bmc", "pdr", "vinta"],
            lemmas=["hints", "pdr"],
        ))
        # The statistics come first.
        found = ABLATE.read_log(
            '[INFO b] engine bmc: a model\n{"answer.engine": "pdr", "answer.stage": 2}\n'
        )
        self.assertEqual((found["engine"], found["stage"]), ("pdr", "2"))

    def test_table(self):
        self.three()
        table, calls = self.ablate("--alone", "5")
        self.assertEqual(table["tpa"][:6], ["1", "1", "1", "3", "1", "0"])
        self.assertEqual(table["tpa"][-1], "brings answers")
        self.assertEqual(table["pass inline"][:6], ["1", "0", "0", "1", "1", "0"])
        self.assertEqual(table["pass merge"][:6], ["0", "0", "1", "1", "0", "0"])
        self.assertEqual(table["pdr"][:6], ["1", "0", "0", "1", "0", "0"])
        self.assertEqual(table["bmc"][-2:], ["0 of 0", "no effect on any task"])
        self.assertEqual((self.folder / "out/table.md").read_text().count("\n| pass "), 2)
        # Differing answers are repeated, others are not.
        without = [call for call in calls if "--without tpa" in call]
        self.assertEqual([call.split()[0] for call in without].count("a.smt2"), 3)
        self.assertEqual([call.split()[0] for call in without].count("c.smt2"), 1)
        self.assertIn("--passes merge", "".join(call for call in calls if "c.smt2" in call))
        self.assertEqual(sum("--engine" in call for call in calls), 3)

    def test_resume(self):
        """Nothing runs twice, and a line that was cut off counts as not run."""
        self.three()
        table, calls = self.ablate()
        self.assertGreater(len(calls), 5)
        self.assertEqual(self.ablate(), (table, []))
        path = self.folder / "out/runs.tsv"
        text = path.read_text()
        path.write_text(text[: text.rindex("\n", 0, -1) + 5])
        again, calls = self.ablate()
        self.assertEqual(len(calls), 1)
        self.assertEqual([row[:6] for row in again.values()], [row[:6] for row in table.values()])
        self.assertEqual(self.ablate("--no-run")[1], [])

    def test_samples(self):
        self.listed(*(("T", f"{n}.smt2", "sat") for n in range(20)))
        for n in range(20):
            self.task(str(n), "sat", log="[INFO x] engine pdr: a model")
        table, calls = self.ablate("--share", "0.5", "--sample", "4")
        self.assertEqual(table["pdr"][:4], ["10", "0", "0", "4"])
        self.assertEqual(len(calls), 14)
        table, calls = self.ablate("--share", "0.5", "--sample", "6", "--parts", "pdr")
        self.assertEqual(table["pdr"][:4], ["10", "0", "0", "6"])

    def test_deterministic(self):
        """The limit is an option of the program; repetitions have others."""
        self.three()
        _, calls = self.ablate("--deterministic", "--seconds", "20", "--parts", "tpa")
        limits = [call.split("--timeout ")[1].split()[0] for call in calls
                  if call.startswith("a.smt2") and "--without" in call]
        self.assertEqual(limits, ["20", "21", "19"])
        self.assertTrue(all("--deterministic" in call for call in calls))
        self.ablate("--seconds", "20", status=2)
        self.assertIn("tpa", self.ablate("--no-run")[0])

    def test_build(self):
        """Something is left out by another build."""
        self.three()
        other = self.folder / "other"
        other.write_text("#!/bin/sh\necho unknown\n", encoding="utf-8")
        other.chmod(0o755)
        table, _ = self.ablate("--parts", "", "--build", f"x={other}")
        self.assertEqual(list(table)[-1], "build x")
        self.assertEqual(table["build x"][:6], ["2", "0", "1", "3", "2", "0"])
        # A program that is not there loses no answers.
        self.ablate("--parts", "", "--build", "y=./none", status=2)
        self.assertNotIn("build:y", (self.folder / "out/runs.tsv").read_text())


if __name__ == "__main__":
    unittest.main()
