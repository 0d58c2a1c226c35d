"""One run of alphorn, for the scripts that print the papers' tables."""

import json
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def default_command(engine=None):
    """The program that was built, with an engine if one is named."""
    program = [str(ROOT / "target/release/alphorn")]
    return [*program, "--engine", engine] if engine else program


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
