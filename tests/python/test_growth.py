"""The table of how the time grows with the size of a family."""

import math
import os
import subprocess
import sys
import unittest

from common import ROOT, module_of

GROWTH = ROOT / "scripts/growth"


def table(*words):
    """What the script prints, line by line, its messages and its status."""
    command = [sys.executable, str(GROWTH), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.splitlines(), done.stderr, done.returncode


class Growth(unittest.TestCase):
    def test_rows(self):
        alphorn = os.environ.get("ALPHORN") or str(ROOT / "target/release/alphorn")
        lines, errors, status = table(
            "--families", "deep,constructors", "--most", "4", "--peer", "nobody=sh -c 'exit 1'",
            "--", alphorn, "--jobs", "1",
        )
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("alphorn: N | s | e | nobody: N", lines[0])
        rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines[2:]]
        first = [["deep", "safe", "4+"], ["deep", "unsafe", "4+"]]
        first += [["constructors", "safe", "4+"], ["constructors", "unsafe", "4+"]]
        self.assertEqual([row[:3] for row in rows], first)
        self.assertTrue(all(row[5:] == ["-", "-", "-"] for row in rows), rows)

    def test_a_wrong_answer_is_told(self):
        always = ["sh", "-c", "echo sat"]
        lines, errors, status = table("--families", "deep", "--most", "2", "--", *always)
        self.assertEqual(status, 1)
        self.assertIn("a wrong answer of alphorn: deep, unsafe", errors)
        self.assertTrue(lines[-1].endswith("| - | - | - |"))

    def test_the_exponent(self):
        growth = module_of(GROWTH)
        points = [(n, 0.5 * n**1.5) for n in (1, 2, 4, 8)]
        self.assertTrue(math.isclose(growth.exponent(points), 1.5))
        # What takes no time says nothing.
        self.assertIsNone(growth.exponent([(1, 0.01), (2, 0.02), (4, 0.2), (8, 0.4)]))

    def test_unknown_families(self):
        self.assertEqual(table("--families", "rings")[2], 2)


if __name__ == "__main__":
    unittest.main()
