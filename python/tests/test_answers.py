"""Answers as data and in words, pickled, of several jobs, and the command in the wheel."""

import concurrent.futures
import importlib.metadata
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import unittest
import zipfile

import alphorn
from alphorn import _program
from support import ENDLESS, QUERY, SAFE, UNSAFE

WHEEL = os.environ.get("ALPHORN_WHEEL")
HAS_PROGRAM = _program.program() is not None


def verdict_and_steps(answer):
    """What is left of an answer in another process."""
    return answer.verdict, len(answer.refutation or ())


class Data(unittest.TestCase):
    def test_the_object(self):
        found = alphorn.solve(UNSAFE, timeout=60).to_dict()
        self.assertEqual((found["verdict"], found["safe"]), ("unsat", False))
        self.assertEqual(found["dialect"], "horn")
        self.assertEqual(found["source"], "text")
        self.assertEqual(len(found["witness"]["steps"]), 5)
        self.assertEqual(found["limits"]["seconds"], 60)
        self.assertTrue(found["checks"]["passed"])
        found = alphorn.solve(SAFE).to_dict()
        self.assertIn("define-fun Loop", found["witness"]["text"])
        found = alphorn.solve(QUERY.format(3)).to_dict()
        self.assertEqual(found["dialect"], "fixedpoint")
        found = alphorn.solve(ENDLESS, timeout=0.2).to_dict()
        self.assertEqual((found["verdict"], found["reason"]), ("unknown", "timeout"))
        self.assertIsNone(found["witness"])

    def test_the_object_is_that_of_the_program(self):
        if not HAS_PROGRAM:
            self.skipTest("the package has no program")
        words = [sys.executable, "-m", "alphorn", "--output=json", "--jobs=1", "--model", "-"]
        done = subprocess.run(words, input=SAFE, capture_output=True, text=True, check=True)
        of_program, own = json.loads(done.stdout), alphorn.solve(SAFE).to_dict()
        self.assertEqual(set(of_program), set(own))
        self.assertEqual(of_program["witness"], own["witness"])

    def test_words(self):
        words = alphorn.solve(SAFE).explain()
        self.assertTrue(words.startswith("Safe: these invariants hold."), words)
        self.assertIn("  Loop(", words)
        words = alphorn.solve(UNSAFE).explain()
        self.assertTrue(words.startswith("Unsafe: this run violates the query of line"), words)
        self.assertEqual(len(words.splitlines()), 6)
        words = alphorn.solve(ENDLESS, timeout=0.2).explain()
        self.assertTrue(words.startswith("No answer: timeout."), words)

    def test_pickling(self):
        for text, options in [(SAFE, {}), (UNSAFE, {}), (ENDLESS, {"timeout": 0.2})]:
            answer = alphorn.solve(text, certificate=True, **options)
            again = pickle.loads(pickle.dumps(answer))
            self.assertEqual(str(again), str(answer))
            self.assertEqual(again.certificate, answer.certificate)
            self.assertEqual(again.stats.keys(), answer.stats.keys())
            for name, value in answer.stats.items():
                # Times are kept to the nanosecond.
                self.assertAlmostEqual(again.stats[name], value, places=8, msg=name)
            self.assertEqual(again.html(), answer.html())
            first, second = again.to_dict(), answer.to_dict()
            # The peak is that of the process.
            for found in (first, second):
                del found["memory_kib"], found["statistics"], found["times"]
            self.assertEqual(first, second)
        with self.assertRaises(ValueError):
            alphorn._native.Run.from_state(b"", "{}")

    def test_answers_go_to_other_processes(self):
        context = multiprocessing.get_context("spawn")
        answer = alphorn.solve(UNSAFE)
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            self.assertEqual(pool.submit(verdict_and_steps, answer).result(), ("unsat", 5))
            again = pool.submit(alphorn.solve, UNSAFE).result()
        self.assertEqual(again.refutation.text, answer.refutation.text)


@unittest.skipUnless(HAS_PROGRAM, "the package has no program")
class Jobs(unittest.TestCase):
    def test_answers(self):
        answer = alphorn.solve(UNSAFE, jobs=2, timeout=300, certificate=True)
        self.assertEqual((answer.verdict, answer.safe), ("unsat", False))
        self.assertEqual(len(answer.refutation), 5)
        self.assertIn("(check-sat)", answer.certificate)
        self.assertEqual(answer.to_dict()["limits"]["jobs"], 2)
        self.assertEqual(alphorn.check(UNSAFE, answer).outcome, "valid")
        answer = alphorn.solve(SAFE, jobs=2, timeout=300)
        self.assertEqual(alphorn.check(SAFE, answer.model).outcome, "valid")
        self.assertIn("Safe", answer.explain())
        self.assertIn("Invariants", answer.html())

    def test_limits_and_errors(self):
        answer = alphorn.solve(ENDLESS, jobs=2, timeout=0.5)
        self.assertEqual((answer.verdict, answer.reason), ("unknown", "timeout"))
        with self.assertRaises(alphorn.InputError) as caught:
            alphorn.solve("(set-logic HORN)\n(assert (P 1))\n(check-sat)", jobs=2)
        self.assertEqual((caught.exception.line, caught.exception.column), (2, 10))
        for wrong in [{"jobs": 0}, {"jobs": 2, "engine": "pdr"}, {"jobs": 2, "passes": "none"}]:
            with self.assertRaises(ValueError):
                alphorn.solve(SAFE, **wrong)
        with self.assertRaises(TypeError):
            alphorn.solve(SAFE, jobs="2")

    def test_another_thread_ends_it(self):
        stop = threading.Event()
        threading.Timer(0.5, stop.set).start()
        begin = time.monotonic()
        answer = alphorn.solve(ENDLESS, jobs=2, stop=stop, timeout=600)
        self.assertEqual((answer.verdict, answer.reason), ("unknown", "interrupted"))
        self.assertLess(time.monotonic() - begin, 300)


class Command(unittest.TestCase):
    @unittest.skipUnless(HAS_PROGRAM, "the package has no program")
    def test_the_command(self):
        folder = os.path.dirname(sys.executable)
        for words in ([sys.executable, "-m", "alphorn"], [os.path.join(folder, "alphorn")]):
            if not os.path.exists(words[0]):
                continue
            # No variable says where libz3 is.
            environment = {"PATH": os.environ.get("PATH", "")}
            done = subprocess.run(
                [*words, "-", "--proof"], input=UNSAFE, capture_output=True, text=True, env=environment
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith("unsat\n1: Loop(0, 0)"), done.stdout)

    def test_what_is_in_the_wheel(self):
        if WHEEL is None:
            self.skipTest("ALPHORN_WHEEL names no wheel")
        with zipfile.ZipFile(WHEEL) as archive:
            names = archive.namelist()
        for name in ("LICENSE-MIT", "LICENSE-APACHE"):
            self.assertTrue(any(n.endswith(f"licenses/{name}") for n in names), names)
        metadata = importlib.metadata.metadata("alphorn")
        urls = metadata.get_all("Project-URL")
        self.assertTrue(any(url.startswith("Repository, https://") for url in urls), urls)
        scripts = importlib.metadata.distribution("alphorn").entry_points
        self.assertIn("alphorn", [script.name for script in scripts])
        if sys.platform == "linux":
            self.assertIn("alphorn/bin/alphorn", names)


if __name__ == "__main__":
    unittest.main()
