"""Small-block versions of the corpus."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

from common import ROOT


class Blocks(unittest.TestCase):
    def test_versions_are_answered_as_the_files(self):
        alphorn = Path(os.environ.get("ALPHORN") or ROOT / "target/release/alphorn").resolve()
        if not (alphorn.parent / "examples/blocks").exists():
            self.skipTest("the example program is not built")
        command = [
            sys.executable, str(ROOT / "scripts/blocks"), "--families", "booleans", "--seconds", "60",
            "--", str(alphorn), "--jobs", "1",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        head, row = (line.split() for line in done.stdout.splitlines())
        self.assertEqual(head[:3], ["family", "files", "answered"])
        self.assertEqual(row[:5], ["booleans", "22", "22", "/", "22"])


if __name__ == "__main__":
    unittest.main()
