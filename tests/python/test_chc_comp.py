"""What is handed in to CHC-COMP: tool-info module, benchmark definitions, archive."""

import ast
import os
import re
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

from common import ROOT, Folder, module_of, without

try:
    import benchexec.model
    import benchexec.result
    import benchexec.util
except ImportError:
    benchexec = None

HERE = ROOT / "scripts/chc-comp"
TRACKS = {
    "LIA-Lin", "LIA", "LRA-Lin", "LIA-Lin-Arrays", "LIA-Arrays", "ADT-LIA", "ADT-LIA-Arrays",
    "BV-Lin", "BV",
}


def program():
    """The program that the tests of this project have built; None without one."""
    named = os.environ.get("ALPHORN")
    path = Path(named or ROOT / "target/debug/alphorn")
    if named and not path.exists():
        raise AssertionError(f"there is no {path}")
    return path.absolute() if path.exists() else None


def package():
    """The script that makes the archive, as a module."""
    return module_of(HERE / "package")


class Competition(Folder):
    def tool_folder(self):
        """A folder as the archive's, whose program prints its version only."""
        folder = self.folder / "alphorn"
        folder.mkdir()
        (folder / "alphorn").write_text('#!/bin/sh\necho "alphorn 1.2.3 (libz3 4.5.6)"\n')
        (folder / "alphorn").chmod(0o755)
        (folder / "libz3.so.4.5").write_text("")
        return folder


@unittest.skipIf(benchexec is None, "scripts/setup --test installs BenchExec")
class ToolInfo(Competition):
    def described(self, *words):
        """What BenchExec's own test prints of the module, by headings."""
        self.tool_folder()
        done = subprocess.run(
            [sys.executable, "-m", "benchexec.test_tool_info", ".alphorn", "--no-container",
             "--tool-directory", "alphorn", *map(str, words)],
            capture_output=True, text=True, cwd=self.folder, check=False,
            env={**os.environ, "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1"},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {}
        heading = None
        for line in done.stderr.splitlines():
            if line.startswith("\t"):
                found[heading].append(line.strip("\t“”"))
                continue
            heading, _, value = line.partition(":")
            found.setdefault(heading, [])
            if value.strip():
                found[heading].append(value.strip(" “”"))
        return found

    def test_what_benchexec_sees(self):
        task = self.task("t", "", "true", track="tasks")
        (self.folder / "properties").mkdir()
        (self.folder / "properties/check-sat.prp").write_text("")
        definition = task.with_suffix(".yml").relative_to(self.folder)
        found = self.described("--task-definition", definition)
        self.assertEqual(found["Name of tool"], ["alphorn"])
        self.assertEqual(found["Executable"], ["alphorn/alphorn"])
        self.assertEqual(found["Version"], ["1.2.3 (libz3 4.5.6)"])
        self.assertEqual(found["Program files"], ["alphorn/alphorn", "alphorn/libz3.so.4.5"])

        def words(heading):
            return ast.literal_eval(found[heading][0])

        run, two = "alphorn/alphorn", ["--jobs", "2"]
        self.assertEqual(words("Minimal command line"), [run, *two, "INPUT.FILE"])
        self.assertEqual(
            words("Command line with parameter"), [run, "-SOME_OPTION", *two, "INPUT.FILE"]
        )
        self.assertEqual(
            words("Command line CPU-time limit"),
            [run, *two, "--timeout", "60.885", "INPUT.FILE"],
        )
        self.assertEqual(
            words("Command line for tasks/t.yml with property properties/check-sat.prp"),
            [run, *two, "tasks/t.smt2"],
        )
        # There is one property, and a task has one file.
        self.assertEqual(
            [warning.partition(":")[0] for warning in found["WARNING"]],
            ["Tool module ignores property file.",
             "Tool-info module does not support tasks with multiple input files"],
        )

    def test_results(self):
        outputs = {
            "sat\n(\n  (define-fun P ((x Int)) Bool true)\n)\n": "true",
            "unsat\n1: false by clause 1\n": "false",
            "unknown\n": "unknown",
            "alphorn: timeout\nunknown\n": "TIMEOUT",
            "unknown\nalphorn: memout\n": "OUT OF MEMORY",
            "unknown\nalphorn: incomplete: quantifiers\n": "unknown",
            "unknown\nalphorn: defect: crashed by signal 11\n": "ERROR (defect)",
            '(error "line 1 column 2: a sort is expected")\n': "ERROR (input)",
            "unknown\nsat\n": "unknown",
            "unsatisfiable\n": "ERROR",
            "": "ERROR",
        }
        paths = []
        for number, text in enumerate(outputs):
            paths.append(self.folder / f"{number}.log")
            paths[-1].write_text(text)
        found = self.described("--tool-output", *paths)
        for path, expected in zip(paths, outputs.values()):
            self.assertEqual(found[f"Result of analyzing tool output in “{path}”"], [expected])

    @unittest.skipIf(program() is None, "the program is not built")
    def test_real_output(self):
        """The module understands what the program prints."""
        papers = ROOT / "horn-benchmarks/papers"
        (self.folder / "bad.smt2").write_text("(assert")
        hard = ROOT / "horn-benchmarks/recursion/ackermann-safe.smt2"
        runs = [
            (["--model=plain", papers / "vinta-fig2a-safe.smt2"], "true"),
            (["--proof", papers / "vinta-fig2a-unsafe.smt2"], "false"),
            (["--timeout", "0.001", hard], "TIMEOUT"),
            ([self.folder / "bad.smt2"], "ERROR (input)"),
        ]
        paths = []
        for number, (words, _) in enumerate(runs):
            paths.append(self.folder / f"{number}.log")
            with open(paths[-1], "w", encoding="utf-8") as log:
                subprocess.run([program(), *words], stdout=log, stderr=log, check=False)
        found = self.described("--tool-output", *paths)
        for path, (_, expected) in zip(paths, runs):
            self.assertEqual(found[f"Result of analyzing tool output in “{path}”"], [expected])


@unittest.skipIf(benchexec is None, "scripts/setup --test installs BenchExec")
class Definitions(Competition):
    def load(self, name):
        """BenchExec's view of a definition over a small checkout, as the competition has it."""
        self.tool_folder()
        (self.folder / "chc-comp26-benchmarks/properties").mkdir(parents=True)
        (self.folder / "chc-comp26-benchmarks/properties/check-sat.prp").write_text("")
        for track in TRACKS:
            for kind, verdict in (("safe", "true"), ("unsafe", "false"), ("open", "")):
                self.task(f"{track}-{kind}", "", verdict, track=f"chc-comp26-benchmarks/{track}")
            (self.folder / f"chc-comp26-benchmarks/{track}.set").write_text(f"./{track}/*.yml\n")
        text = (HERE / f"{name}.xml.template").read_text(encoding="utf-8")
        self.assertTrue(text.startswith('<?xml version="1.0"?>\n<!DOCTYPE benchmark PUBLIC'))
        path = self.folder / f"{name}.xml"
        # The competition's Makefile does this, and gives the tool's folder.
        path.write_text(
            text.replace("../chc-comp26-benchmarks", "chc-comp26-benchmarks").replace(
                'tool="alphorn"', 'tool=".alphorn"'
            )
        )
        from benchexec.benchexec import BenchExec

        main = BenchExec()
        main.config = main.create_argument_parser().parse_args(
            [str(path), "--no-container", "--tool-directory", str(self.folder / "alphorn"),
             "--outputpath", str(self.folder / "out")]
        )
        sys.path.insert(0, str(HERE))
        self.addCleanup(sys.path.remove, str(HERE))
        benchmark = benchexec.model.Benchmark(
            str(path), main.config, benchexec.util.read_local_time()
        )
        benchmark.executable = str(self.folder / "alphorn/alphorn")
        return benchmark

    def commands(self, benchmark):
        """Words by task, without the folder."""
        (runs,) = benchmark.run_sets
        place = f"{self.folder}/"
        found = {}
        for run in runs.runs:
            words = [str(word).replace(place, "") for word in run.cmdline()]
            found[words[-1].replace("chc-comp26-benchmarks/", "")] = words[:-1]
        return found

    def test_plain(self):
        benchmark = self.load("alphorn")
        self.assertEqual(benchmark.rlimits.cputime, 1800)
        self.assertEqual(benchmark.rlimits.memory, 30 * 10**9)
        self.assertEqual(benchmark.rlimits.cpu_cores, 8)
        found = self.commands(benchmark)
        kinds = ("safe", "unsafe", "open")
        self.assertEqual(set(found), {f"{t}/{t}-{kind}.smt2" for t in TRACKS for kind in kinds})
        memory = str(int(30e9 * 0.95 / 2**20))
        for words in found.values():
            limits = ["--jobs", "2", "--timeout", "891", "--memory", memory]
            self.assertEqual(words, ["alphorn/alphorn", *limits])

    def test_model(self):
        benchmark = self.load("alphorn-model")
        self.assertEqual(benchmark.rlimits.cputime, 1800)
        self.assertEqual(benchmark.rlimits.memory, 15 * 10**9)
        self.assertEqual(benchmark.rlimits.cpu_cores, 2)
        found = self.commands(benchmark)
        self.assertEqual(set(found), {f"{t}/{t}-safe.smt2" for t in TRACKS})
        for words in found.values():
            self.assertEqual(words[:3], ["alphorn/alphorn", "--quiet", "--model=plain"])


@unittest.skipIf(program() is None, "the program is not built")
class Archive(Competition):
    def test_archive(self):
        out = self.folder / "a.zip"
        done = subprocess.run(
            [sys.executable, HERE / "package", "--binary", program(), "--out", out],
            capture_output=True, text=True, check=False, env=without("LD_LIBRARY_PATH"),
        )
        self.assertEqual((done.returncode, done.stdout), (0, f"{out}\n"), done.stderr)
        with zipfile.ZipFile(out) as archive:
            names = archive.namelist()
            self.assertTrue(all(name.startswith("alphorn/") for name in names))
            (library,) = [name for name in names if "libz3" in name]
            for name in ("LICENSE-APACHE", "LICENSE-MIT", "LICENSE-Z3", "README.md", "alphorn.py"):
                self.assertIn(f"alphorn/{name}", names)
            crates = archive.read("alphorn/LICENSES-CRATES").decode()
            files = {
                name.removeprefix("alphorn/"): (archive.read(name), name == "alphorn/alphorn")
                for name in names
            }
        # Linked in, and linked into tests only.
        self.assertRegex(crates, r"(?m)^clap \d+")
        self.assertNotRegex(crates, r"(?m)^proptest \d+")

        # The trial notices a library that is missing.
        module = package()
        self.assertEqual(module.Elf(files["alphorn"][0]).run_path(), ["$ORIGIN"])
        del files[library.removeprefix("alphorn/")]
        module.write(out, files)
        with self.assertRaises(module.Failed):
            module.smoke(out)

    def test_no_program(self):
        done = subprocess.run(
            [sys.executable, HERE / "package", "--binary", HERE / "README.md", "--out", "x.zip"],
            capture_output=True, text=True, check=False, cwd=self.folder,
        )
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "(?m)^package: ")
        self.assertFalse((self.folder / "x.zip").exists())


class Notes(unittest.TestCase):
    def test_tracks_of_definitions(self):
        for name in ("alphorn", "alphorn-model"):
            text = (HERE / f"{name}.xml.template").read_text(encoding="utf-8")
            self.assertEqual(set(re.findall(r'<tasks name="([^"]+)">', text)), TRACKS)
            verdicts = text.count('expectedverdict="true"')
            self.assertEqual(verdicts, len(TRACKS) if "model" in name else 0)


if __name__ == "__main__":
    unittest.main()
