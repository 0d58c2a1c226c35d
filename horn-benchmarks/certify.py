#!/usr/bin/env python3
"""Check the invariants (NAME.inv) kept beside some safe tasks with an SMT solver.

An invariant file holds a `define-fun` for every predicate of the task. Each clause of the task, with
those definitions in place of the declarations, must be valid: its negation is given to the SMT solver,
which must answer `unsat`. No Horn solver is involved.
"""
import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def split(text):
    """The top-level S-expressions of a script, comments left out."""
    found, depth, start, i = [], 0, None, 0
    while i < len(text):
        c = text[i]
        if c == ";":
            end = text.find("\n", i)
            i = len(text) if end < 0 else end
            continue
        if c in '|"':
            i = text.index(c, i + 1)
        elif c == "(":
            if depth == 0:
                start = i
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                found.append(text[start:i + 1])
        i += 1
    return found


def words(command):
    return command.replace("(", " ( ").split()


def check(solver, timeout, invariant):
    """The clauses of the task that the invariant does not satisfy, as (number, answer)."""
    task = invariant.with_suffix(".smt2")
    definitions = split(invariant.read_text())
    defined = {words(d)[2] for d in definitions}
    prelude, bad, number = [], [], 0
    script = split(task.read_text())
    for command in script:
        kind = words(command)[1]
        if kind.startswith("declare-datatype") or kind in ("define-sort", "define-fun"):
            prelude.append(command)
        elif kind == "declare-fun" and words(command)[2] not in defined:
            return [(0, "no definition of " + words(command)[2])]
    prelude += definitions
    for command in script:
        if words(command)[1] != "assert":
            continue
        number += 1
        clause = command[len("(assert"):-1]
        query = "\n".join(["(set-logic ALL)"] + prelude + ["(assert (not " + clause + "))", "(check-sat)"])
        try:
            run = subprocess.run(solver, input=query, capture_output=True, text=True, timeout=timeout)
            answer = (run.stdout.split("\n") or [""])[0].strip()
        except subprocess.TimeoutExpired:
            answer = "timeout"
        if answer != "unsat":
            bad.append((number, answer or "no answer"))
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--solver", default="z3 -in", help="SMT solver reading standard input (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=20, help="seconds for each clause (default: %(default)s)")
    parser.add_argument("paths", nargs="*", help="invariant files (default: all)")
    args = parser.parse_args()
    files = [pathlib.Path(p) for p in args.paths] or sorted(HERE.glob("*/*.inv"))
    failed = 0
    for invariant in files:
        bad = check(args.solver.split(), args.timeout, invariant)
        failed += bool(bad)
        state = "passed" if not bad else "FAILED " + ", ".join("clause %d: %s" % b for b in bad)
        print("%-48s %s" % (invariant.with_suffix("").name, state), flush=True)
    print("%d passed, %d failed" % (len(files) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
