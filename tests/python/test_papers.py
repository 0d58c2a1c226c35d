"""The tables of the papers: rows in which the engine had nothing to do are seen."""

import json
import subprocess
import sys
import unittest

from common import ROOT, Folder, module_of

SPACER = ROOT / "scripts/spacer-table"
VINTA = ROOT / "scripts/vinta-table"
SAFARI = ROOT / "scripts/safari-table"

# Answers with counters, as the file says that follows the options.
MOCK = """
import json, pathlib, sys
told = json.loads(pathlib.Path(sys.argv[-1]).read_text().splitlines()[0][2:])
with open({calls!r}, "a") as calls:
    print(*sys.argv[1:], file=calls)
print(json.dumps(told["counters"]), file=sys.stderr)
print(told["answer"])
"""

WHOLE = {
    "spacer.predicates": 2, "spacer.assumptions": 10, "spacer.iterations": 3, "spacer.B": 4,
    "spacer.a_f-percent": 33, "spacer.a_m-percent": 44,
}


class Papers(Folder):
    def setUp(self):
        super().setUp()
        self.calls = self.folder / "calls"
        self.solver = self.folder / "solver.py"
        self.solver.write_text(MOCK.format(calls=str(self.calls)), encoding="utf-8")

    def planted(self, name, answer, counters):
        """A task with the answer and the counters that the mock has for it."""
        path = self.folder / f"{name}.smt2"
        told = json.dumps({"answer": answer, "counters": counters})
        path.write_text(f"; {told}\n(check-sat)\n", encoding="utf-8")
        return path

    def table(self, script, *words):
        """What a script prints, its messages and its status."""
        command = [sys.executable, str(script), *map(str, words), "--", sys.executable]
        done = subprocess.run(
            [*command, str(self.solver)], capture_output=True, text=True, check=False
        )
        return done.stdout.splitlines(), done.stderr, done.returncode

    def test_a_vacuous_row_is_marked_and_counts_nowhere(self):
        whole = self.planted("whole", "sat", WHOLE)
        # Passes left no predicate: the loop had no assumption, whatever percent that is.
        empty = self.planted("empty", "sat", {**WHOLE, "spacer.assumptions": 0})
        lines, errors, status = self.table(SPACER, "--modes", "pdr,cores,all", whole, empty)
        self.assertEqual((status, errors), (0, ""))
        numbers = lines[2].split()
        self.assertEqual(numbers[:2], ["whole", "sat"])
        self.assertEqual(numbers[4:7], ["4", "33", "44"])
        self.assertEqual(lines[3].split().count("passes"), 2)
        self.assertNotIn("33", lines[3])
        self.assertEqual(lines[3].split()[-1], "-")
        self.assertRegex(lines[-1], r"all: 1 solved; 1 vacuous; .* for the 1 that all solved")

    def test_a_table_of_vacuous_rows_is_refused(self):
        empty = self.planted("empty", "sat", {})
        _, errors, status = self.table(SPACER, "--modes", "pdr,cores", empty)
        self.assertEqual(status, 1)
        self.assertIn("all rows of cores are vacuous", errors)

    def test_the_papers_own_settings(self):
        whole = self.planted("whole", "sat", WHOLE)
        self.assertEqual(self.table(SPACER, whole)[2], 0)
        calls = self.calls.read_text().splitlines()
        paper = [c for c in calls if "spacer.as-in-paper=true" in c]
        self.assertEqual(len(paper), 2)
        self.assertTrue(all("--passes none" in c for c in paper), paper)

    def test_different_answers_are_told(self):
        script = module_of(SPACER)
        self.assertEqual(set(script.MODES), {*"muz paper paper-pba pdr cores all hybrid".split()})
        other = self.folder / "other.py"
        text = self.solver.read_text()
        text = text.replace('print(told["answer"])', 'print("unsat" if "cegar" in str(sys.argv) else "sat")')
        other.write_text(text, encoding="utf-8")
        self.solver = other
        whole = self.planted("whole", "sat", WHOLE)
        self.assertEqual(self.table(SPACER, whole)[2], 1)

    def test_refinements_are_those_of_the_answer(self):
        counters = {
            "vinta.predicates": 1, "vinta.phases": 9, "vinta.refinements": 7,
            "vinta.answer.refinements": 2, "vinta.answer.certificates": 1,
            "vinta.answer.projection": 1,
        }
        self.planted("s3_clnt_1.cil_000", "sat", counters)
        self.planted("token_ring.1_000", "sat", {})
        self.planted("other", "sat", counters)
        lines, errors, status = self.table(VINTA, "--modes", "vbox", "--blocks", "paper", self.folder)
        self.assertEqual((status, errors), (0, ""))
        self.assertRegex(lines[2], r"s3_clnt_1 +8\.61: 0\.\d\d +2 \(1,1\) +1$")
        self.assertRegex(lines[3], r"token_ring\.01 +4\.05: passes")
        self.assertEqual(lines[4].split(), ["solved", "1"])
        self.assertIn("vinta.lemmas=false", self.calls.read_text())

    def test_what_only_thresholds_decide_has_a_star(self):
        script = module_of(VINTA)
        run = script.run_of
        task = self.planted("a", "sat", {
            "vinta.predicates": 1, "vinta.phases": 1, "vinta.answer.refinements": 0})
        done = run([sys.executable, str(self.solver)], task, 5, [], script.NEEDS)
        before = script.run_of([sys.executable, "-c", "print('unknown')"], task, 5)
        self.assertIn("*", script.cell(done, before))
        self.assertNotIn("*", script.cell(done, done))

    def test_table_1_and_figure_7(self):
        counters = {"vinta.predicates": 1, "vinta.phases": 1}
        self.planted("a", "sat", counters)
        self.planted("b_BUG", "unsat", counters)
        words = ("--table", "1", "--modes", "vbox,ucp", "--blocks", "paper", "--seconds", "10")
        lines, _, status = self.table(VINTA, *words, self.folder)
        self.assertEqual(status, 0)
        self.assertEqual(lines[1].split()[:6], ["vbox,", "paper", "2", "1", "1", "0"])
        self.assertIn("Fig. 7, unsafe", lines[6])
        self.assertEqual(lines[7].split()[2:], ["1"] * 4)
        calls = self.calls.read_text()
        self.assertIn("--set vinta.domain=none --set vinta.thresholds=false --set vinta.lemmas=true", calls)

    def test_safari_has_three_columns(self):
        script = module_of(SAFARI)
        self.assertEqual(len(script.PAPER), 12)
        for name in script.PAPER:
            self.assertTrue((ROOT / f"horn-benchmarks/safari/{name}-safe.smt2").exists(), name)
            self.assertTrue((ROOT / f"horn-benchmarks/safari/{name}-unsafe.smt2").exists(), name)
        always = ["-c", "import sys; print('sat'); print('{\"safari.nodes\": 5}', file=sys.stderr)"]
        command = [sys.executable, str(SAFARI), "--", sys.executable, *always]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[2], r"^find-v1-safe +0\.3 +5 +192 +3 +0\.\d\d +5 ")


if __name__ == "__main__":
    unittest.main()
