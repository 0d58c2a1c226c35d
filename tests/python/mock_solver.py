#!/usr/bin/env python3
"""Stands in for a solver: does what the first line of its task says.

The line is a comment, `; mock: WORD ...`; each word is one step:

    sat unsat unknown   prints it           sleep=S    sleeps
    cpu=S               uses CPU time       memory=MB  has that much resident memory
    fork=N              the rest of the steps is done by N children, too
    wait                waits until its children have ended
    orphan=S            leaves a process in a session of its own that sleeps S seconds
    exit=N              ends with a status  flood=N    prints N lines that are no answer
    error               prints an error as solvers do
    cores               prints the number of processors it may use
    log=FILE            adds a line to a file
    until=FILE          waits until a file is there
    comments            prints the task's further comments: a model
"""

import os
import subprocess
import sys
import time


def burn(seconds):
    """Uses CPU time."""
    while time.process_time() < seconds:
        pass


def main():
    with open(sys.argv[-1], encoding="utf-8") as file:
        steps = file.readline().partition("mock:")[2].split()
    kept = []
    children = []
    for step in steps:
        name, _, value = step.partition("=")
        if name in ("sat", "unsat", "unknown"):
            print(name, flush=True)
        elif name == "sleep":
            time.sleep(float(value))
        elif name == "cpu":
            burn(float(value))
        elif name == "memory":
            kept.append(b"x" * (int(value) << 20))
        elif name == "fork":
            for _ in range(int(value)):
                child = os.fork()
                if child == 0:
                    children = []
                    break
                children.append(child)
        elif name == "wait":
            for child in children:
                os.waitpid(child, 0)
        elif name == "orphan":
            subprocess.Popen(["setsid", "sleep", value], stdout=subprocess.DEVNULL)
        elif name == "exit":
            print("no luck", file=sys.stderr)
            sys.exit(int(value))
        elif name == "error":
            print('(error "line 1 column 2: no")', flush=True)
        elif name == "flood":
            for _ in range(int(value)):
                print("satisfiable unsatisfied")
        elif name == "cores":
            print("cores", len(os.sched_getaffinity(0)), file=sys.stderr)
        elif name == "comments":
            with open(sys.argv[-1], encoding="utf-8") as file:
                lines = [line[1:].strip() for line in file.readlines()[1:] if line[0] == ";"]
            print("\n".join(lines), flush=True)
        elif name == "until":
            while not os.path.exists(value):
                time.sleep(0.01)
        elif name == "log":
            with open(value, "a", encoding="utf-8") as log:
                log.write(f"{os.path.basename(sys.argv[-1])} {os.getpid()}\n")
        else:
            sys.exit(f"no such step: {step}")


main()
