"""Campaigns on a Dask cluster of this machine: two workers, one of which is killed."""

import os
import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from common import BENCH, MOCK, Folder, alive

from campaign import watch

try:
    import distributed
except ImportError:
    distributed = None


@unittest.skipIf(distributed is None, "scripts/setup --campaign installs distributed")
class Cluster(Folder):
    def start(self, *words):
        """Starts a part of the cluster; ends it with the test."""
        log = open(self.folder / f"{len(os.listdir(self.folder))}.log", "w", encoding="utf-8")
        self.addCleanup(log.close)
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]],
            stdout=log,
            stderr=log,
            cwd=self.folder,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, log.name

    def wait(self, condition, what):
        """Waits until a condition holds, and returns what it gives."""
        deadline = time.monotonic() + 30
        while True:
            value = condition()
            if value:
                return value
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.05)

    def cluster(self):
        """A scheduler and two workers of one thread: the address, and the workers' processes."""
        words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-jupyter")
        _, log = self.start("dask_scheduler", *words)

        def address():
            text = Path(log).read_text(encoding="utf-8")
            found = re.search(r"tcp://127\.0\.0\.1:\d+", text)
            return found and found.group()

        scheduler = self.wait(address, "no scheduler")
        words = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")
        workers = [self.start("dask_worker", scheduler, *words)[0] for _ in range(2)]
        with distributed.Client(scheduler, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=30)
        return scheduler, workers

    def test_lost_worker(self):
        scheduler, workers = self.cluster()
        log = self.folder / "log"
        rows = []
        for number in range(6):
            answer = "unsat" if number % 2 else "sat"
            self.task(f"t{number}", f"log={log} until={self.folder}/go {answer}")
            rows.append(("T", f"t{number}.smt2", answer))
        path = self.listed(*rows)
        campaign = subprocess.Popen(
            [sys.executable, str(BENCH), "--out", "out.tsv", "--tasks", str(path), "--seconds",
             "40", "--cluster", scheduler, "--cores", "1", "--", sys.executable, str(MOCK),
             "{file}"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )

        def solvers_of(worker):
            """Process numbers of solvers below a worker: those of its watchers' children."""
            return [str(pid) for w in watch.children(worker.pid) for pid in watch.children(w)]

        lost = workers[0]
        running = self.wait(
            lambda: log.exists() and [pid for pid in solvers_of(lost) if pid in log.read_text()],
            "no run on the first worker",
        )
        lost.send_signal(signal.SIGKILL)
        lost.wait()
        (self.folder / "go").write_text("")
        output, errors = campaign.communicate(timeout=50)
        self.assertEqual(campaign.returncode, 0, output + errors)
        self.assertIn("2 workers, 2 runs at a time", errors)
        self.assertEqual([row[3] for row in self.rows().values()], ["sat", "unsat"] * 3)
        # What the lost worker ran was ended with it, and run again.
        started = [line.split() for line in log.read_text().splitlines()]
        (again,) = [name for name, pid in started if pid in running]
        self.assertEqual([name for name, _ in started].count(again), 2)
        self.assertFalse(any(alive(int(pid)) for pid in running))
        self.assertEqual(len(self.journal()), 6)

    def test_no_jobs(self):
        self.task("a", "sat")
        path = self.listed(("T", "a.smt2", "sat"))
        words = ("--tasks", path, "--cluster", "tcp://127.0.0.1:9", "--jobs", "2")
        done = self.bench(*words, status=2)
        self.assertIn("jobs", done.stderr)


if __name__ == "__main__":
    unittest.main()
