"""What the Python tests share."""

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MOCK = Path(__file__).with_name("mock_solver.py")
BENCH = ROOT / "scripts/bench"

sys.path.insert(0, str(ROOT / "scripts"))


def alive(pid):
    """Whether a process exists and has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def module_of(path):
    """A script as a module."""
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    dont_write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = dont_write
    return module


def called(*words):
    """Process numbers of processes whose command line ends with these words."""
    tail = b"".join(word.encode() + b"\0" for word in words)
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().endswith(tail):
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


class Folder(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def task(self, name, steps, verdict=None, track=None):
        """Writes a task for the mock solver; with a verdict also its task definition."""
        path = self.folder / (track or "") / f"{name}.smt2"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"; mock: {steps}\n(check-sat)\n", encoding="utf-8")
        if verdict is not None:
            path.with_suffix(".yml").write_text(
                "format_version: '2.0'\n"
                f"input_files: {name}.smt2\n"
                "properties:\n"
                f"- expected_verdict: {verdict}\n"
                "  property_file: ../properties/check-sat.prp\n",
                encoding="utf-8",
            )
        return path

    def listed(self, *rows):
        """Writes a list of tasks; rows of track, file, verdict."""
        path = self.folder / "list.tsv"
        path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        return path

    def bench(self, *words, status=0, command=(sys.executable, str(MOCK), "{file}"), **more):
        """Runs scripts/bench in the folder with the mock solver; the finished process."""
        done = subprocess.run(
            [sys.executable, str(BENCH), "--out", "out.tsv", *map(str, words), "--", *command],
            capture_output=True,
            text=True,
            cwd=self.folder,
            check=False,
            timeout=60,
            **more,
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def rows(self, name="out.tsv"):
        """The lines of a table by file."""
        lines = (self.folder / name).read_text(encoding="utf-8").splitlines()
        return {line.split("\t")[1]: line.split("\t") for line in lines}

    def journal(self):
        """The results that the journal has."""
        lines = (self.folder / "out.tsv.jsonl").read_text(encoding="utf-8").splitlines()
        return [entry for entry in map(json.loads, lines) if "answer" in entry]


def without(*names):
    """The environment without some variables."""
    return {key: value for key, value in os.environ.items() if key not in names}
