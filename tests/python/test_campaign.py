"""Campaigns on this machine: tasks, limits, tables, resuming, peers."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest
from pathlib import Path

from common import BENCH, MOCK, ROOT, Folder, alive, called, without

from campaign import progress, results, solvers, tables, tasks


class Tasks(Folder):
    def test_own(self):
        found = {task.name: task for task in tasks.load([str(ROOT / "horn-benchmarks")], ROOT)}
        self.assertGreater(len(found), 500)
        safe = found["horn-benchmarks/papers/vinta-fig2a-safe.smt2"]
        self.assertEqual((safe.track, safe.verdict), ("papers", "sat"))
        # In the fixedpoint dialect a safe program is unsat.
        self.assertEqual(found["horn-benchmarks/dialect/fp-arrays-safe.smt2"].verdict, "unsat")

    def test_set(self):
        for name, verdict in (("a", "true"), ("b", "false"), ("c", "true")):
            self.task(name, "sat", verdict, track="sub")
        self.task("d", "sat", "", track="sub")
        (self.folder / "LIA.set").write_text("# some\n./sub/a.yml\n\nsub/[bd].yml\n")
        (self.folder / "BV.set").write_text("sub/c.yml\nsub/a.yml\n")
        found = tasks.load([str(self.folder)], self.folder)
        verdicts = {(task.track, task.name): task.verdict for task in found}
        self.assertEqual(
            verdicts,
            {
                ("LIA", "sub/a.smt2"): "sat",
                ("LIA", "sub/b.smt2"): "unsat",
                ("LIA", "sub/d.smt2"): "unknown",
                ("BV", "sub/a.smt2"): "sat",
                ("BV", "sub/c.smt2"): "sat",
            },
        )
        self.assertTrue(all(Path(task.path).exists() for task in found))

    def test_definitions(self):
        """The forms of YAML that task definitions have."""
        (self.folder / "x y.smt2").write_text("")
        heads = (
            "input_files: 'x y.smt2'",
            'input_files: ["x y.smt2"]',
            "input_files:\n  - x y.smt2",
        )
        other = "  - property_file: other.prp\n    expected_verdict: true\n"
        for head in heads:
            path = self.folder / "t.yml"
            path.write_text(
                f"format_version: '2.0' # a comment\n{head}\noptions:\n  language: SMT-LIB\n"
                f"properties:\n{other}  - property_file: p/check-sat.prp\n"
                "    expected_verdict: false\n"
            )
            file, verdict = tasks.definition(path)
            self.assertEqual((file.name, verdict), ("x y.smt2", "unsat"))
        path.write_text("properties:\n- expected_verdict: true\n")
        with self.assertRaises(tasks.BadTasks):
            tasks.definition(path)

    def test_bad(self):
        (self.folder / "LIA.set").write_text("nothing.yml\n")
        with self.assertRaisesRegex(tasks.BadTasks, "nothing.yml"):
            tasks.load([str(self.folder)], self.folder)
        self.listed(("a", "b", "c", "d"))
        with self.assertRaisesRegex(tasks.BadTasks, "list.tsv:1"):
            tasks.load([str(self.folder / "list.tsv")], self.folder)
        self.bench("--tasks", "none.tsv", status=2)


class Limits(Folder):
    def one(self, steps, *words):
        """The result of one run as --json has it."""
        self.task("t", steps)
        path = self.listed(("T", "t.smt2", "unknown"))
        self.bench("--tasks", path, "--json", "out.json", *words)
        (result,) = json.loads((self.folder / "out.json").read_text())["results"]
        return result

    def test_answer(self):
        result = self.one("flood=20000 unsat sat")
        self.assertEqual((result["answer"], result["limit"], result["status"]), ("unsat", None, 0))

    def test_error(self):
        result = self.one("exit=3")
        self.assertEqual((result["answer"], result["status"]), ("error", 3))
        self.assertIn("no luck", result["note"])

    def test_answer_after_an_error(self):
        """It is about what the solver could read."""
        for steps, answer in (
            ("error sat", "error"),
            ("flood=3 error unsat error", "error"),
            ("unsat error", "unsat"),
            ("unknown error sat", "unknown"),
            ("error", "error"),
        ):
            result = self.one(steps)
            self.assertEqual((result["answer"], result["limit"]), (answer, None), steps)

    def test_wall(self):
        result = self.one("sleep=20 sat", "--seconds", "0.5")
        self.assertEqual((result["answer"], result["limit"]), ("timeout", "wall"))
        self.assertGreaterEqual(result["wall"], 0.5)
        self.assertLess(result["wall"], 10)

    def test_answer_before_the_limit(self):
        result = self.one("sat sleep=20", "--seconds", "3")
        self.assertEqual((result["answer"], result["limit"]), ("sat", "wall"))

    def test_cpu_of_children(self):
        """Three processes share the limit, and what ended counts, too."""
        result = self.one("fork=2 cpu=30 sat", "--cpu-seconds", "0.6", "--seconds", "20")
        self.assertEqual((result["answer"], result["limit"]), ("timeout", "cpu"))
        self.assertGreaterEqual(result["cpu"], 0.6)
        self.assertLess(result["cpu"], 3)
        result = self.one("fork=1 cpu=0.3 wait sat")
        self.assertEqual(result["limit"], None)
        self.assertGreaterEqual(result["cpu"], 0.5)

    def test_memory_of_children(self):
        """No process has as much as the limit; together they have more."""
        result = self.one("fork=2 memory=60 sleep=20 sat", "--memory", "150", "--seconds", "15")
        self.assertEqual((result["answer"], result["limit"]), ("memout", "memory"))
        # What they share counts once.
        result = self.one("memory=60 fork=2 sleep=0.5 sat", "--memory", "150")
        self.assertEqual((result["answer"], result["limit"]), ("sat", None))
        result = self.one("memory=60 sat", "--memory", "150")
        self.assertEqual(result["answer"], "sat")
        self.assertGreaterEqual(result["memory"], 60)

    def test_orphans_are_killed(self):
        result = self.one("orphan=987.25 sleep=0.3 sat")
        self.assertEqual(result["answer"], "sat")
        # Only a sleep of ours has this argument.
        self.assertEqual(called("sleep", "987.25"), [])

    def test_cores(self):
        result = self.one("cores", "--cores", "1")
        self.assertIn("cores 1", result["note"])
        many = str(len(os.sched_getaffinity(0)) + 1)
        self.bench("--tasks", "list.tsv", "--cores", many, status=2)

    def test_no_program(self):
        self.task("t", "sat")
        path = self.listed(("T", "t.smt2", "sat"))
        done = self.bench("--tasks", path, command=("./no-such-program", "{file}"))
        self.assertEqual(self.rows()["t.smt2"][3], "error")
        self.assertIn("error", done.stderr)


class Campaigns(Folder):
    def test_columns_and_table(self):
        self.task("a", "sat")
        self.task("b", "unknown")
        path = self.listed(("LIA", "a.smt2", "sat"), ("BV", "b.smt2", "unsolved"))
        done = self.bench("--tasks", path, "--checkout", ".", "--jobs", "2")
        track, file, verdict, answer, wall, cpu, memory = self.rows()["a.smt2"]
        self.assertEqual((track, file, verdict, answer), ("LIA", "a.smt2", "sat", "sat"))
        self.assertRegex(" ".join((wall, cpu, memory)), r"^\d+\.\d\d \d+\.\d\d \d+$")
        lines = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual(lines[0], ["track", "tasks", "sat", "unsat", "wrong", "CPU", "s"])
        self.assertEqual([line[:5] for line in lines[1:]], [
            ["BV", "1", "0", "0", "0"], ["LIA", "1", "1", "0", "0"], ["total", "2", "1", "0", "0"],
        ])
        self.assertRegex(done.stderr, r"2/2 .*\(left: 0s\)")

    def test_checkout_and_tracks(self):
        self.task("a", "sat", "true", track="x")
        self.task("b", "unsat", "false", track="y")
        self.bench("--checkout", self.folder, "--tracks", "y")
        self.assertEqual(list(self.rows()), ["y/b.smt2"])

    def test_wrong(self):
        self.task("a", "sat")
        path = self.listed(("T", "a.smt2", "unsat"))
        done = self.bench("--tasks", path, status=1)
        self.assertIn("WRONG", done.stderr)
        self.assertRegex(done.stdout, "WRONG: .* says sat, recorded is unsat: a.smt2")

    def test_resume(self):
        """An interrupt keeps what is done, and stops what runs; --resume does the rest only."""
        log = self.folder / "log"
        self.task("a", f"log={log} sat")
        waiting = self.task("b", f"log={log} sleep=30 sat")
        self.task("c", f"log={log} unsat")
        rows = [("T", f"{name}.smt2", "unsolved") for name in "abc"]
        path = self.listed(*rows)
        words = ["--out", "out.tsv", "--tasks", str(path), "--seconds", "40"]
        command = [sys.executable, str(MOCK), "{file}"]
        process = subprocess.Popen(
            [sys.executable, str(BENCH), *words, "--", *command],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            # Whoever runs the tests in the background may have it ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if log.exists() and "b.smt2" in log.read_text():
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn(b"1 of 3 runs", errors)
        pid = int(log.read_text().split("b.smt2 ")[1].split()[0])
        self.assertFalse(alive(pid))
        self.assertEqual([r["file"] for r in self.journal()], ["a.smt2"])

        # As if the machine had stopped in the middle of a line.
        with open(self.folder / "out.tsv.jsonl", "a", encoding="utf-8") as journal:
            journal.write('{"solver": "x", "answ')
        waiting.write_text(f"; mock: log={log} unsat\n")
        done = self.bench("--tasks", path, "--seconds", "40", status=2)
        self.assertIn("--resume", done.stderr)
        done = self.bench("--tasks", path, "--seconds", "41", "--resume", status=2)
        self.assertIn("other limits", done.stderr)
        self.bench("--tasks", path, "--seconds", "40", "--resume")
        self.assertEqual([row[3] for row in self.rows().values()], ["sat", "unsat", "unsat"])
        self.assertEqual(log.read_text().count("a.smt2"), 1)
        # Nothing is left to run; and without --resume all runs again.
        self.bench("--tasks", path, "--seconds", "40", "--resume")
        self.assertEqual(log.read_text().count("c.smt2"), 1)
        self.bench("--tasks", path, "--seconds", "40")
        self.assertEqual(log.read_text().count("c.smt2"), 2)

    def test_killed_campaign_leaves_no_solver(self):
        log = self.folder / "log"
        self.task("a", f"log={log} sleep=60 sat")
        path = self.listed(("T", "a.smt2", "sat"))
        words = ["--out", "out.tsv", "--tasks", str(path), "--seconds", "60"]
        process = subprocess.Popen(
            [sys.executable, str(BENCH), *words, "--", sys.executable, str(MOCK), "{file}"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 30
        while not (log.exists() and log.read_text().endswith("\n")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        process.kill()
        process.wait()
        pid = int(log.read_text().split()[1])
        while alive(pid):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    @unittest.skipIf(progress.tqdm is None, "scripts/setup --campaign installs tqdm")
    def test_bar(self):
        """On a terminal there is a bar; wrong answers stand above it."""
        self.task("a", "sat")
        self.task("b", "sat")
        path = self.listed(("T", "a.smt2", "sat"), ("T", "b.smt2", "unsat"))
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        process = subprocess.Popen(
            [sys.executable, str(BENCH), "--out", "out.tsv", "--tasks", str(path), "--",
             sys.executable, str(MOCK), "{file}"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=theirs,
            env=without("COLUMNS", "LINES"),
        )
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 1024):
                shown += data
        except OSError:
            pass
        os.close(ours)
        self.assertEqual(process.wait(), 1)
        self.assertIn(b"2/2", shown)
        self.assertIn(b"1 solved", shown)
        self.assertRegex(shown, rb"b\.smt2  WRONG")

    def test_modes(self):
        self.task("a", "sat")
        path = self.listed(("T", "a.smt2", "sat"))
        script = self.folder / "solver"
        script.write_text(f'#!/bin/sh\necho "$@" >>"{self.folder}/calls"\necho sat\n')
        script.chmod(0o755)
        done = self.bench("--tasks", path, "--modes", "interp", command=("./solver", "{file}"))
        self.assertEqual(self.rows("out-R+S+E+W.tsv")["a.smt2"][3], "sat")
        calls = (self.folder / "calls").read_text()
        self.assertIn("--set interp.kinds=R,S,E --set interp.search=weighted", calls)
        self.assertEqual(len(calls.splitlines()), len(solvers.MODES["interp"]))
        paper = "--passes none --set interp.as-in-paper=true --set interp.kinds=R --set interp.search=dfs"
        self.assertEqual(calls.count(paper + "\n"), 1)
        self.assertEqual(self.rows("out-R-paper.tsv")["a.smt2"][3], "sat")
        self.assertIn("solved/open", done.stdout)
        self.assertFalse((self.folder / "out.tsv").exists())

    def test_peers(self):
        """Peers of PATH run side by side; contradictions count."""
        (self.folder / "bin").mkdir()
        for name in ("golem", "eld"):
            peer = self.folder / "bin" / name
            peer.write_text(f'#!/bin/sh\necho "{name} $@" >>"{self.folder}/calls"\necho unsat\n')
            peer.chmod(0o755)
        z3 = self.folder / "bin" / "z3"
        z3.write_text("#!/bin/sh\necho '(error \"line 1 column 9: unknown sort\")'\necho sat\n")
        z3.chmod(0o755)
        self.task("a", "sat")
        self.task("b", "unsat")
        path = self.listed(("LIA-Lin", "a.smt2", "unsolved"), ("BV", "b.smt2", "unsat"))
        search = f"{self.folder}/bin:{os.environ['PATH']}"
        done = self.bench(
            "--tasks", path, "--peers", "z3,golem,eld", "--name", "mock",
            status=1, env={**os.environ, "PATH": search},
        )
        self.assertEqual(self.rows("out-golem.tsv")["b.smt2"][3], "unsat")
        self.assertIn("CONTRADICTION: mock says sat, golem says unsat", done.stdout)
        self.assertEqual(self.rows("out-z3.tsv")["b.smt2"][3], "error")
        self.assertRegex(done.stdout, r"total +2/2 \(0\) +0/2 \(0\) +2/2 \(0\) +2/2 \(0\)")
        calls = (self.folder / "calls").read_text()
        self.assertRegex(calls, r"golem \S*a.smt2 --logic=QF_LIA --engine=imc")
        self.assertRegex(calls, r"eld -portfolio \S*b.smt2")
        done = self.bench("--tasks", path, "--peers", "nobody", status=2)
        self.assertIn("nobody", done.stderr)

    def test_places(self):
        limits = dict(wall=10, cpu=None, memory=None)
        task = tasks.Task("LIA", "a", "/x/a", "sat")
        solver = solvers.Solver("s", ("p", "-t{seconds}", "{cpu}", "{track}", "{file}"))
        self.assertEqual(solver.command(task, limits), ["p", "-t10", "10", "LIA", "/x/a"])


class Numbers(Folder):
    @staticmethod
    def result(solver, file, answer, verdict="unsolved", wall=1.0):
        return dict(
            solver=solver, track="T", file=file, verdict=verdict, answer=answer, wall=wall,
            cpu=wall, memory=1, limit=None, status=0, note="",
        )

    def test_comparison(self):
        by_solver = {
            "x": [self.result("x", "1", "sat"), self.result("x", "2", "sat", "unsat")],
            "y": [self.result("y", "1", "timeout"), self.result("y", "2", "unsat", "unsat")],
        }
        self.assertEqual(tables.by_track(by_solver["x"])[1], dict(
            tasks=2, sat=1, unsat=0, wrong=1, cpu=2.0))
        self.assertEqual(tables.uniquely(by_solver), {"T": {"x": 1, "y": 1}})
        self.assertRegex(tables.comparison(by_solver)[-1], r"total +1/2 \(1\) +1/2 \(1\)")

    def test_modes_count_the_limit(self):
        found = [self.result("R", "1", "sat"), self.result("R", "2", "x")]
        lines = tables.of_modes({"R": found}, 10)
        self.assertEqual(lines[2].split(), ["total", "1/1"])
        self.assertEqual(lines[6].split(), ["total", "11.0"])
        self.assertEqual(lines[-2].split(), ["solved,", "of", "R's", "100.0%"])
        self.assertEqual(lines[-1].split(), ["open,", "of", "R's", "100.0%"])

    def test_the_ladder_of_modes(self):
        first = [self.result("R", "1", "sat"), self.result("R", "2", "x")]
        both = [self.result("R+E", "1", "x"), self.result("R+E", "2", "sat")]
        ladder = tables.ladder({"R": first, "R+E": both, "R+E-paper": both})
        self.assertEqual(ladder[0][1], ["100.0%", "0.0%", "-"])
        self.assertEqual(ladder[1][1], ["100.0%", "0.0%", "-"])

    def test_tables_are_read_again(self):
        found = [self.result("x", "a b.smt2", "sat"), self.result("x", "c", "timeout", "sat", 10.0)]
        path = self.folder / "t.tsv"
        results.write_tsv(path, found)
        again = results.read_tsv(path, "x")
        self.assertEqual([results.key(r) for r in again], [results.key(r) for r in found])
        self.assertEqual([r["wall"] for r in again], [1.0, 10.0])
        path.write_text("a\tb\n")
        with self.assertRaises(results.Refused):
            results.read_tsv(path, "x")

    def test_spans(self):
        self.assertEqual([progress.span(s) for s in (5, 65, 7625)], ["5s", "1m05s", "2h07m"])
