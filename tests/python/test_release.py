"""The release archive: what is in it, and that it runs where nothing else is."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import unittest

from common import ROOT, Folder

RELEASE = ROOT / "scripts/release"
ALPHORN = os.path.abspath(os.environ.get("ALPHORN") or ROOT / "target/release/alphorn")


@unittest.skipUnless(sys.platform == "linux", "the program needs Linux")
class Archive(Folder):
    def make(self, name):
        out = self.folder / name
        words = [sys.executable, str(RELEASE), "--binary", ALPHORN, "--out", str(out)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out / os.path.basename(done.stdout.strip())

    def test_the_archive(self):
        archive = self.make("one")
        with tarfile.open(archive) as files:
            names = {name.partition("/")[2] for name in files.getnames()}
            files.extractall(self.folder / "unpacked")
        for name in ("alphorn", "README.md", "LICENSE-MIT", "LICENSE-Z3", "LICENSES-CRATES",
                     "answer.schema.json", "share/man/man1/alphorn.1", "share/completions/_alphorn"):
            self.assertIn(name, names)
        self.assertTrue(any(re.match(r"libz3\.so", name) for name in names), names)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        sums = (archive.parent / "SHA256SUMS").read_text(encoding="ascii")
        self.assertEqual(sums, f"{digest}  {archive.name}\n")
        # Nothing of the environment is needed, and the folder may be anywhere.
        (folder,) = (self.folder / "unpacked").iterdir()
        moved = self.folder / "a b"
        shutil.move(folder, moved)
        words = [str(moved / "alphorn"), str(moved / "examples/vinta-fig2a-unsafe.smt2"), "--proof"]
        done = subprocess.run(words, env={}, cwd="/", capture_output=True, text=True, check=True)
        self.assertTrue(done.stdout.startswith("unsat\n1: Head(0, 0)"), done.stdout)

    def test_what_is_wrong(self):
        words = [sys.executable, str(RELEASE), "--binary", __file__, "--out", str(self.folder)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("release: ", done.stderr)


class Metadata(unittest.TestCase):
    """Versions and addresses are the same everywhere."""

    def test_they_agree(self):
        def first(path, pattern):
            text = (ROOT / path).read_text(encoding="utf-8")
            return re.search(pattern, text, re.MULTILINE)[1]

        version = first("Cargo.toml", r'^version = "(.*)"$')
        self.assertEqual(first("CITATION.cff", r"^version: (.*)$"), version)
        address = first("Cargo.toml", r'^repository = "(.*)"$')
        self.assertEqual(first("CITATION.cff", r"^repository-code: (.*)$"), address)
        self.assertEqual(first("python/pyproject.toml", r'^Repository = "(.*)"$'), address)

    def test_workflows_call_scripts_that_exist(self):
        for path in (ROOT / ".github/workflows").glob("*.yml"):
            text = path.read_text(encoding="utf-8")
            scripts = re.findall(r"\bscripts/[\w/-]+", text)
            self.assertTrue(scripts, path)
            for script in scripts:
                self.assertTrue(os.access(ROOT / script, os.X_OK), script)
            # YAML as GitHub reads it: no tabs, and keys in two levels of two spaces.
            self.assertNotIn("\t", text)
            self.assertRegex(text, r"(?m)^on:$")
            self.assertRegex(text, r"(?m)^jobs:$")


if __name__ == "__main__":
    unittest.main()
