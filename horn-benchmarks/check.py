#!/usr/bin/env python3
"""Run a solver over the corpus and compare its verdicts with the task definitions.

    check.py [--timeout 10] [--hard] [--family NAME]... -- alphorn [options]

The task's file is appended to the command, or put in the place of {file}. The verdict is the first line of
standard output: sat, unsat or unknown. In the fixedpoint dialect (`# dialect: fixedpoint` in the task definition)
an answer is about the query, so that unsat means safe.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
STATES = ("passed", "wrong", "unknown", "timeout", "error")


class Task:
    def __init__(self, definition):
        text = definition.read_text()
        name = re.search(r"^input_files:\s*'?([^'\n]+)'?\s*$", text, re.M).group(1)
        self.file = definition.parent / name
        self.family = definition.parent.name
        self.name = "%s/%s" % (self.family, self.file.stem)
        self.safe = re.search(r"^\s*expected_verdict:\s*(true|false)\s*$", text, re.M).group(1) == "true"
        self.fixedpoint = re.search(r"^# dialect: fixedpoint\s*$", text, re.M) is not None
        hard = re.search(r"^# hard: (.*)$", text, re.M)
        self.hard = hard.group(1) if hard else None

    def expected(self):
        return "sat" if self.safe != self.fixedpoint else "unsat"


def run(task, command, timeout):
    """(state, answer, seconds) of one run; the solver's process group ends with it."""
    if any("{file}" in part for part in command):
        command = [part.replace("{file}", str(task.file)) for part in command]
    else:
        command = command + [str(task.file)]
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        output, late = process.communicate(timeout=timeout)[0], False
    except subprocess.TimeoutExpired:
        late = True
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    if late:
        output = process.communicate()[0]
    seconds = time.monotonic() - start
    answer = output.decode(errors="replace").split("\n")[0].strip()
    if answer in ("sat", "unsat"):
        return ("passed" if answer == task.expected() else "wrong"), answer, seconds
    if late:
        return "timeout", "-", seconds
    if answer == "unknown":
        return "unknown", answer, seconds
    return "error", answer[:60] or "exit status %d" % process.returncode, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     epilog="The exit status is 1 if any verdict is wrong (with --strict: if anything failed).")
    parser.add_argument("--timeout", type=float, default=10, metavar="S", help="seconds for each task (default: %(default)s)")
    parser.add_argument("--hard", action="store_true", help="include the tasks marked as hard")
    parser.add_argument("--family", action="append", metavar="NAME", help="only this family (may be repeated)")
    parser.add_argument("--jobs", type=int, default=1, metavar="J", help="tasks run side by side (default: %(default)s)")
    parser.add_argument("--strict", action="store_true", help="exit status 1 also for unknown, timeouts and errors")
    parser.add_argument("--verbose", action="store_true", help="a line for each task, not only for those that failed")
    parser.add_argument("command", nargs="+", help="the solver and its options, after --")
    args = parser.parse_args()

    tasks = [Task(d) for d in sorted(HERE.glob("*/*.yml"))]
    if args.family:
        unknown = set(args.family) - {t.family for t in tasks}
        if unknown:
            parser.error("no such family: " + ", ".join(sorted(unknown)))
        tasks = [t for t in tasks if t.family in args.family]
    skipped = sum(1 for t in tasks if t.hard and not args.hard)
    tasks = [t for t in tasks if args.hard or not t.hard]

    counts = collections.defaultdict(collections.Counter)
    times = collections.Counter()
    print("%-44s %-8s %-8s %8s" % ("task", "expected", "answer", "seconds"))
    with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool:
        try:
            for task, (state, answer, seconds) in zip(tasks, pool.map(lambda t: run(t, args.command, args.timeout), tasks)):
                counts[task.family][state] += 1
                times[task.family] += seconds
                if args.verbose or state != "passed":
                    shown = {"passed": "", "wrong": "  WRONG"}.get(state, "  " + state)
                    print("%-44s %-8s %-8s %8.2f%s%s" % (task.name, task.expected(), answer, seconds, shown,
                                                         "  (hard)" if task.hard else ""), flush=True)
        except OSError as problem:
            print("%s: %s" % (args.command[0], problem.strerror), file=sys.stderr)
            return 2

    print()
    print("%-14s %6s" % ("family", "tasks") + "".join("%9s" % s for s in STATES) + "%10s" % "seconds")
    total = collections.Counter()
    for family in sorted(counts):
        total.update(counts[family])
        row = counts[family]
        print("%-14s %6d" % (family, sum(row.values())) + "".join("%9d" % row[s] for s in STATES) + "%10.1f" % times[family])
    print("%-14s %6d" % ("total", sum(total.values())) + "".join("%9d" % total[s] for s in STATES)
          + "%10.1f" % sum(times.values()))
    if skipped:
        print("%d hard tasks left out (--hard includes them)" % skipped)
    failed = sum(total.values()) - total["passed"]
    print("%d passed, %d failed" % (total["passed"], failed))
    return 1 if total["wrong"] or (args.strict and failed) else 0


if __name__ == "__main__":
    sys.exit(main())
