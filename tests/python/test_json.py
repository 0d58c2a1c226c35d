"""Answers as JSON: every object of the program is valid for the schema."""

import json
import os
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

from common import ROOT

try:
    import fastjsonschema
except ImportError:
    fastjsonschema = None

CORPUS = ROOT / "horn-benchmarks"
SCHEMA = ROOT / "docs/src/answer.schema.json"
#: At least this many files of the corpus.
FILES = 100


def alphorn(*words, text=None):
    """A run of the program: its output, as JSON, and its standard error."""
    program = os.path.abspath(os.environ.get("ALPHORN") or ROOT / "target/release/alphorn")
    done = subprocess.run(
        [program, "--jobs", "1", *words], input=text, capture_output=True, text=True, check=False
    )
    return done.stdout, done.stderr


@unittest.skipIf(fastjsonschema is None, "scripts/setup --test installs fastjsonschema")
class Objects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        cls.validate = staticmethod(fastjsonschema.compile(schema))

    def test_corpus(self):
        files = sorted(CORPUS.glob("*/*.smt2"))
        step = max(1, len(files) // (FILES + 10))
        files = files[::step]
        self.assertGreaterEqual(len(files), FILES)

        def run(path):
            return path, alphorn("--output=json", "--timeout=2", str(path))

        verdicts = set()
        with ThreadPoolExecutor(2) as pool:
            for path, (output, _) in pool.map(run, files):
                with self.subTest(path=path.name):
                    answer = json.loads(output)
                    self.validate(answer)
                    verdicts.add(answer["verdict"])
                    expected = path.with_suffix(".yml").read_text(encoding="utf-8")
                    if answer["safe"] is not None:
                        known = str(answer["safe"]).lower()
                        self.assertIn(f"expected_verdict: {known}", expected)
                    kind = {True: "model", False: "refutation", None: None}[answer["safe"]]
                    witness = answer["witness"]
                    self.assertEqual(witness["kind"] if witness else None, kind)
                    self.assertEqual(answer["checks"]["passed"], kind is not None)
        self.assertLessEqual({"sat", "unsat"}, verdicts)

    def test_other_ends(self):
        far = "(set-logic HORN)(declare-fun P (Int Int) Bool)(assert (P 0 1))" + (
            "(assert (forall ((x Int) (y Int)) (=> (P x y) (P (+ x 1) (mod (* y y 7) 1000003)))))"
            "(assert (forall ((x Int) (y Int)) (=> (and (P x y) (= x 1000000000)) false)))"
            "(check-sat)"
        )
        small = "(set-logic HORN)(declare-fun P (Int) Bool)(assert (P 1))(check-sat)"
        rules = "(declare-rel p ())(rule p)(query p)"
        for words, text in [
            (["--timeout=0.3"], far),
            (["--timeout=0.3", "--jobs=2"], far),
            (["--memory=1"], far),
            (["--deterministic", "--timeout=0.2"], far),
            (["--jobs=2"], small),
            ([], rules),
            ([], "(assert"),
            (["--engine=none"], small),
        ]:
            with self.subTest(words=words, text=text[:40]):
                self.validate(json.loads(alphorn("--output=json", "-", *words, text=text)[0]))

    def test_several_questions(self):
        text = (
            "(set-logic HORN)(declare-fun P (Int) Bool)(assert (P 1))(check-sat)"
            '(echo "next")(assert (not (P 1)))(check-sat)(get-proof)'
        )
        lines = alphorn("--output=json", "-", text=text)[0].splitlines()
        answers = [json.loads(line) for line in lines]
        self.assertEqual([answer["verdict"] for answer in answers], ["sat", "unsat"])
        for answer in answers:
            self.validate(answer)

    def test_statistics(self):
        text = "(set-logic HORN)(declare-fun P (Int) Bool)(assert (P 1))(check-sat)"
        for jobs in ("1", "2"):
            _, stats = alphorn("--stats=json", "-", "--jobs", jobs, text=text)
            self.validate(json.loads(stats)["answer"])

    def test_what_is_not_valid(self):
        text = "(set-logic HORN)(declare-fun P (Int) Bool)(assert (P 1))(check-sat)"
        good = json.loads(alphorn("--output=json", "-", text=text)[0])
        self.validate(good)
        for name, value in [("verdict", "safe"), ("safe", "yes"), ("witness", {}), ("limits", None)]:
            with self.assertRaises(fastjsonschema.JsonSchemaValueException, msg=name):
                self.validate({**good, name: value})
        for name in good:
            with self.assertRaises(fastjsonschema.JsonSchemaValueException, msg=name):
                self.validate({key: value for key, value in good.items() if key != name})


class Campaigns(unittest.TestCase):
    """Rows of a campaign have the object of a solver that prints one."""

    def test_a_row_has_the_object(self):
        watch = [sys.executable, "-I", "-S", str(ROOT / "scripts/campaign/watch.py")]
        program = os.path.abspath(os.environ.get("ALPHORN") or ROOT / "target/release/alphorn")
        task = str(ROOT / "examples/first/loop-unsafe.smt2")

        def row(*words):
            what = json.dumps({"command": [program, "--jobs", "1", *words, task], "wall": 300})
            done = subprocess.run([*watch, what], capture_output=True, text=True, check=True)
            return json.loads(done.stdout)

        found = row("--stats=json")
        self.assertEqual(found["answer"], "unsat")
        self.assertEqual(found["object"]["verdict"], "unsat")
        self.assertIn("engine", found["object"]["answered_by"])
        self.assertIsNone(row()["object"])
        self.assertIsNone(row("--stats")["object"])


if __name__ == "__main__":
    unittest.main()
