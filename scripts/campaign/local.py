"""Runs on this machine: threads that start watchers, and processors for each run."""

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path

WATCH = Path(__file__).with_name("watch.py")


def specification(solver, task, limits, cores):
    """What watch.py is told for a run."""
    return dict(
        command=solver.command(task, limits),
        wall=limits["wall"],
        cpu=limits["cpu"],
        memory=limits["memory"],
        cores=cores,
    )


def result_of(solver, task, report):
    """A result from what watch.py reported."""
    return dict(
        solver=solver.name, track=task.track, file=task.name, verdict=task.verdict, **report
    )


def failed(note):
    """The report of a run that could not be watched."""
    return dict(
        answer="error", limit=None, wall=0.0, cpu=0.0, memory=0, status=None, object=None,
        note=note,
    )


def slots(jobs, cores):
    """The processors of each of `jobs` runs at a time.

    `cores` is how many each has; None for one each when there are several runs (they share when
    there are too few processors), and for no choice when there is one. Raises ValueError when there
    are not as many as asked for.
    """
    processors = sorted(os.sched_getaffinity(0))
    if cores is None:
        if jobs == 1:
            return [None]
        return [[processors[index % len(processors)]] for index in range(jobs)]
    if jobs * cores > len(processors):
        raise ValueError(
            f"{jobs} runs with {cores} processors each need {jobs * cores} processors;"
            f" there are {len(processors)}"
        )
    return [processors[index * cores : (index + 1) * cores] for index in range(jobs)]


class Local:
    """Runs as many at a time as there are slots. Iterate over it for the results."""

    def __init__(self, runs, limits, places):
        """`runs` are pairs of solver and task, `places` what `slots` returned."""
        self.todo = queue.SimpleQueue()
        for run in runs:
            self.todo.put(run)
        self.count = len(runs)
        self.limits = limits
        self.places = places
        self.done = queue.SimpleQueue()
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.watchers = []

    def __iter__(self):
        threads = [
            threading.Thread(target=self.work, args=(place,), daemon=True) for place in self.places
        ]
        for thread in threads:
            thread.start()
        for _ in range(self.count):
            yield self.done.get()
        for thread in threads:
            thread.join()

    def work(self, cores):
        """Takes runs until there are no more, with one watcher for them."""
        watcher = None
        while True:
            try:
                solver, task = self.todo.get_nowait()
            except queue.Empty:
                break
            watcher = watcher or self.watcher()
            if watcher is None:
                break
            what = specification(solver, task, self.limits, cores)
            what["parent"] = os.getpid()
            report = self.ask(watcher, what)
            if self.stopping.is_set():
                break
            if report is None:
                watcher.wait()
                report = failed(f"the watcher ended with status {watcher.returncode}")
                watcher = None
            self.done.put(result_of(solver, task, report))
        if watcher:
            watcher.stdin.close()
            watcher.wait()
            watcher.stdout.close()

    def watcher(self):
        """Starts a watcher; None when all is stopped."""
        with self.lock:
            if self.stopping.is_set():
                return None
            # A session of its own: an interrupt from the terminal is for us, not for it.
            watcher = subprocess.Popen(
                [sys.executable, "-I", "-S", str(WATCH)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            self.watchers.append(watcher)
            return watcher

    @staticmethod
    def ask(watcher, what):
        """The report of a run; None when the watcher has gone."""
        try:
            watcher.stdin.write(json.dumps(what).encode() + b"\n")
            watcher.stdin.flush()
            return json.loads(watcher.stdout.readline())
        except (OSError, ValueError):
            return None

    def stop(self):
        """Ends all runs; what is not done stays so."""
        self.stopping.set()
        with self.lock:
            for watcher in self.watchers:
                watcher.terminate()
        for watcher in self.watchers:
            watcher.wait()
