"""scripts/portfolio: its candidates are command lines of the program."""

import argparse
import os
import subprocess
import unittest

from common import ROOT, module_of

ALPHORN = os.environ.get("ALPHORN") or str(ROOT / "target/release/alphorn")
SAFE = "(set-logic HORN)(declare-fun P (Int) Bool)(assert (P 0))(check-sat)"

portfolio = module_of(ROOT / "scripts/portfolio")


class Candidates(unittest.TestCase):
    def setUp(self):
        options = argparse.Namespace(members=None, program=[ALPHORN])
        self.candidates = portfolio.candidates(options)

    def run_with(self, *options):
        return subprocess.run(
            [ALPHORN, "--jobs", "1", "--print-system", *options],
            input=SAFE,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_each_is_accepted_by_the_program(self):
        for name, member in self.candidates.items():
            done = self.run_with(*member.split())
            self.assertEqual(done.returncode, 0, f"{name}: {done.stdout}")
        self.assertEqual(self.run_with("--engine", "nothing").returncode, 1)

    def test_all_engines_of_the_program_are_candidates(self):
        # The message about an unknown engine lists the engines, too.
        message = self.run_with("--engine", "nothing").stdout
        engines = set(portfolio.engines([ALPHORN]))
        self.assertIn("pdr", engines)
        for name in engines:
            self.assertIn(name, message)
        self.assertEqual(engines - set(self.candidates), portfolio.FOREIGN)


if __name__ == "__main__":
    unittest.main()
