"""The matrix of engines and the schedules learnt from it (`scripts/tune`), with a solver that is a mock."""

import os
import subprocess
import sys
import unittest

from common import ROOT, Folder, module_of

ALPHORN = os.environ.get("ALPHORN") or str(ROOT / "target/release/alphorn")
TUNE = module_of(ROOT / "scripts/tune")

# Answers `sat` if its engine is named in the second line of the task; the third line is the class.
SOLVER = f"""#!{sys.executable}
import json, os, sys
words = sys.argv[1:]
if words == ["--help"]:
    print('''Options:
      --engine <NAME>
          The engine:
          pdr   frames
          bmc   paths
          muz   another program

      --passes <LIST>''')
    sys.exit()
value = dict(zip(words, words[1:]))
engine = value.get("--engine", "auto")
with open(words[-1]) as file:
    lines = [line[1:].strip() for line in file]
with open(os.path.join(os.path.dirname(sys.argv[0]), "calls"), "a") as calls:
    calls.write(os.path.basename(words[-1]) + " " + engine + "\\n")
answer = dict(shape=dict(family=lines[2]), answered_by=dict(engine=engine, stage="quick"),
              times=dict(engine=0.01, check=0.0))
print(json.dumps(dict(answer=answer)), file=sys.stderr)
print("sat" if engine in lines[1].split() else "unknown")
"""


def line(file, candidate, seconds, answer="sat", family="f", verdict="unknown", name="numbers"):
    """A line of the matrix: all of the time is the engine's."""
    return dict(
        track="T", file=file, family=family, candidate=candidate, verdict=verdict, answer=answer,
        engine=candidate, stage="", cpu=seconds, turn=seconds, check=0.0, **{"class": name},
    )


def options(**more):
    """The options of a report, with some changed."""
    found = TUNE.arguments(["--out", "out"])
    vars(found).update(seconds=30, limits=[10.0], cores=[2], **more)
    return found


def tasks(rows):
    """The tasks of the class `numbers`."""
    return TUNE.classes(rows, 30)["numbers"]


class Matrix(Folder):
    def setUp(self):
        super().setUp()
        self.solver = self.folder / "solver"
        self.solver.write_text(SOLVER, encoding="utf-8")
        self.solver.chmod(0o755)

    def tune(self, *words):
        done = subprocess.run(
            [sys.executable, str(ROOT / "scripts/tune"), "--out", "out", "--tasks", "list.tsv",
             "--seconds", "5", *words, "--", str(self.solver)],
            capture_output=True, text=True, cwd=self.folder, check=False, timeout=60,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        calls = self.folder / "calls"
        text = calls.read_text(encoding="utf-8") if calls.exists() else ""
        calls.unlink(missing_ok=True)
        return done.stdout, sorted(text.splitlines())

    def write(self, name, needs, family):
        path = self.folder / family / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f";\n; {needs}\n; numbers\n", encoding="utf-8")
        return "T", f"{family}/{name}", "unknown"

    def test_engines_run_on_what_the_default_leaves_open(self):
        rows = [self.write("easy.smt2", "auto pdr", "f"), self.write("hard.smt2", "bmc", "f"),
                self.write("other.smt2", "bmc", "g")]
        self.listed(*rows)
        text, calls = self.tune()
        self.assertEqual(calls, ["easy.smt2 auto", "hard.smt2 auto", "hard.smt2 bmc",
                                 "hard.smt2 pdr", "other.smt2 auto", "other.smt2 bmc",
                                 "other.smt2 pdr"])
        self.assertIn("| 10 s | 1 | 3 | 3 | 3 |", text)
        self.assertIn("2 cores: 3 by auto, bmc.", text)
        lines = (self.folder / "out/matrix.tsv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[0].split("\t"), list(TUNE.COLUMNS))
        self.assertEqual(len(lines), 8)
        # What was measured is not measured again.
        again, calls = self.tune()
        self.assertEqual((again, calls), (text, []))

    def test_engines_of_the_program_are_candidates(self):
        found = TUNE.candidates(options(program=[ALPHORN], stages=True))
        self.assertTrue({"pdr", "pdr-quick", "ic3-written"} <= set(found))
        self.assertNotIn("muz", found)
        for words in found.values():
            done = subprocess.run(
                [ALPHORN, "--jobs", "1", "--print-system", *words],
                input="(set-logic HORN)(declare-fun P (Int) Bool)(assert (P 0))(check-sat)",
                capture_output=True, text=True, check=False,
            )
            self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}")


class Schedules(unittest.TestCase):
    def test_slices_by_answers_for_their_time(self):
        rows = [line(f"slow{i}", "pdr", 6.0, family=f"f{i}") for i in range(4)]
        rows += [line(f"fast{i}", "bmc", 0.15, family=f"f{i}") for i in range(2)]
        found = TUNE.learn(tasks(rows), 30, 2)
        self.assertEqual(found, [("bmc", 0.0, 0.2), ("pdr", 0.0, 6.4)])

    def test_engines_that_are_resumed_need_the_rest_only(self):
        rows = [line(f"fast{i}", "pdr", 0.1, family=f"f{i}") for i in range(2)]
        rows += [line(f"slow{i}", "pdr", 0.8, family=f"f{i}") for i in range(2)]
        found = TUNE.learn(tasks(rows), 30, 2)
        self.assertEqual(found, [("pdr", 0.0, 0.1), ("pdr", 0.1, 0.8)])
        again = [dict(r, candidate="bmc") for r in rows]
        self.assertEqual(TUNE.learn(tasks(again), 30, 2)[1], ("bmc", 0.0, 0.8))

    def test_nothing_is_learnt_from_one_family_alone(self):
        rows = [line(f"a{i}", "pdr", 0.1, family="f") for i in range(5)]
        rows += [line("b", "bmc", 0.1, family="g")]
        self.assertEqual(TUNE.learn(tasks(rows), 30, 2), [])
        # Where there is one family, it has to do.
        self.assertEqual(TUNE.learn(tasks(rows[:5]), 30, 2), [("pdr", 0.0, 0.1)])

    def test_an_engine_that_gives_up_takes_until_then(self):
        rows = [line("a", "pdr", 5.0, family="f"), line("a", "bmc", 0.3, answer="unknown")]
        (task,) = tasks(rows)
        self.assertEqual(TUNE.seconds(task, [("bmc", 0.0, 4.0), ("pdr", 0.0, 8.0)]), 5.3)
        self.assertIsNone(TUNE.seconds(task, [("pdr", 0.0, 4.0)]))

    def test_a_family_is_predicted_without_itself(self):
        rows = [line(f"a{i}", "pdr", 1.0, family=f"f{i}") for i in range(2)]
        rows += [line("b", "bmc", 1.0, family="g"), line("c", "bmc", 1.0, family="h")]
        text = TUNE.report(rows, options(families=1))
        self.assertIn("| 10 s | 0 | 4 | 4 | 4 |", text)
        # Without `g`, `bmc` helps one family only.
        text = TUNE.report(rows, options(families=2))
        self.assertIn("| 10 s | 0 | 4 | 0 | 4 |", text)

    def test_answers_against_the_verdict_do_not_count(self):
        rows = [line("a", "pdr", 1.0, answer="sat", verdict="unsat")]
        text = TUNE.report(rows, options())
        self.assertIn("| 10 s | 0 | 0 | 0 | 0 |", text)
        self.assertIn("Answers against the recorded verdict: a.", text)


if __name__ == "__main__":
    unittest.main()
