"""One run of alphorn, for the scripts that print the papers' tables."""

import json
import os
import resource
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ANSWERS = ("sat", "unsat")
# What stands in place of the numbers of a run in which the engine had nothing to do.
VACUOUS = "passes"


def default_command(engine=None):
    """The program that was built, with an engine if one is named."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    program = [str(ROOT / target / "release/alphorn")]
    return [*program, "--engine", engine] if engine else program


def as_in_paper(engine):
    """The words for an engine with the settings of its paper, and without passes."""
    return ["--engine", engine, "--passes", "none", "--set", f"{engine}.as-in-paper=true"]


def _cpu():
    """The CPU seconds of all runs so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(command, task, seconds, settings=()):
    """Answer, wall time and counters of one run."""
    settings = [part for setting in settings for part in ("--set", setting)]
    command = [*command, *settings, "--timeout", str(seconds), "--stats=json", str(task)]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall = time.monotonic() - start
    answer = done.stdout.split("\n", 1)[0].strip()
    counters = {}
    for line in done.stderr.splitlines():
        if line.startswith("{"):
            counters = json.loads(line)
    return answer, wall, counters


@dataclass
class Run:
    """One run of an engine. A run is vacuous if there is an answer, but the engine had nothing to
    do for it: passes left no predicate, or the answer is another engine's, or one of the counters
    in `needs` is zero."""

    answer: str
    cpu: float
    counters: dict = field(default_factory=dict)
    is_vacuous: bool = False

    @property
    def is_known(self):
        """Whether it has an answer that is the engine's own."""
        return self.answer in ANSWERS and not self.is_vacuous

    def seconds(self):
        """What a table says of its CPU time."""
        if self.answer not in ANSWERS:
            return "-"
        return VACUOUS if self.is_vacuous else f"{self.cpu:.2f}"

    def number(self, name):
        """What a table says of a counter."""
        return str(self.counters.get(name, "-")) if self.is_known else "-"


def run_of(command, task, seconds, settings=(), needs=()):
    """A run with its CPU seconds. Other load on the machine changes these little; with
    `--deterministic` in the command it does not change answers either."""
    start = _cpu()
    answer, _, counters = measure(command, task, seconds, settings)
    spent = _cpu() - start
    is_vacuous = any(not counters.get(name) for name in needs)
    return Run(answer, spent, counters, answer in ANSWERS and is_vacuous)


def ratio(ours, papers):
    """How many times as long the second run takes; `-` where one has no answer."""
    if not (ours.is_known and papers.is_known):
        return "-"
    return f"{papers.cpu / max(ours.cpu, 0.01):.1f}"
