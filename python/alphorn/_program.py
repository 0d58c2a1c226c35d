"""The program ``alphorn`` in the package: the command line, and several jobs at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, NoReturn

from . import _native
from ._library import folder

if TYPE_CHECKING:
    from ._solve import Event

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "alphorn")
#: How often a run is compared with its event, in seconds.
_PERIOD = 0.02


def program() -> str | None:
    """The path of the program; ``None`` where the package has only the library."""
    return _PROGRAM if os.access(_PROGRAM, os.X_OK) else None


def _environment() -> dict[str, str]:
    """The environment in which the program finds the libz3 of the package z3-solver."""
    name = "LD_LIBRARY_PATH"
    before = os.environ.get(name)
    paths = [os.path.join(folder(), "lib")] + ([before] if before else [])
    return {**os.environ, name: os.pathsep.join(paths)}


def main() -> NoReturn:
    """Runs the program in the place of this process."""
    path = program()
    if path is None:
        sys.exit("alphorn: this package has the library only; the program needs Linux")
    os.execve(path, ["alphorn", *sys.argv[1:]], _environment())


def run_jobs(
    content: bytes,
    jobs: int,
    timeout: float | None,
    memory: int | None,
    plain_model: bool,
    certificate: bool,
    cache: str | None,
    stop: Event | None,
) -> _native.Run:
    """A run of the program with several jobs. Raises as :func:`alphorn.solve` does."""
    path = program()
    if path is None:
        raise OSError("several jobs need the program alphorn, which this package does not have")
    # What cannot be read has the same error as with one job.
    sorts, predicates = _native.outline(content)
    with tempfile.TemporaryDirectory(prefix="alphorn-") as work:
        answer, script = os.path.join(work, "answer"), os.path.join(work, "certificate")
        words = [path, "--jobs", str(jobs), "--proof", f"--output=json:{answer}", "-q"]
        words.append("--model=plain" if plain_model else "--model")
        if timeout is not None:
            words.append(f"--timeout={timeout}")
        if memory is not None:
            words.append(f"--memory={memory}")
        if certificate:
            words += ["--certificate", script]
        if cache is not None:
            words += ["--cache", cache]
        text = os.path.join(work, "text")
        with open(text, "wb") as file:
            file.write(content)
        output = _output([*words, text], stop)
        with open(answer, encoding="utf-8") as file:
            found: dict[str, Any] = json.load(file)
        proof = None
        if certificate and found["safe"] is not None:
            with open(script, encoding="utf-8") as file:
                proof = file.read()
    witness = found["witness"] or {}
    refutation = {"refutation": witness.get("steps"), "measures": witness.get("measures")}
    numbers = found["statistics"]
    state = {
        "verdict": found["verdict"],
        "dialect": found["dialect"],
        "satisfiable": found["safe"],
        "reason": found["reason"],
        "model": witness.get("text", ""),
        "refutation": json.dumps(refutation) if found["safe"] is False else "",
        "refutation_text": output.partition("\n")[2] if found["safe"] is False else "",
        "certificate": proof,
        "sorts": sorts,
        "predicates": predicates,
        "total": found["times"]["total"],
        "timeout": timeout,
        "memory_mib": memory,
        "deterministic": False,
        "jobs": jobs,
        "counts": {name: value for name, value in numbers.items() if isinstance(value, int)},
        "times": {name: value for name, value in numbers.items() if isinstance(value, float)},
        "texts": {name: value for name, value in numbers.items() if isinstance(value, str)},
    }
    return _native.Run.from_state(content, json.dumps(state))


def _output(words: list[str], stop: Event | None) -> str:
    """What the program prints. It is stopped by the event, and by any exception here."""
    with subprocess.Popen(
        words,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            while True:
                try:
                    output, log = process.communicate(timeout=_PERIOD)
                    break
                except subprocess.TimeoutExpired:
                    if stop is not None and stop.is_set():
                        # It answers `unknown`.
                        process.terminate()
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        from ._errors import Defect

        raise Defect(f"the program alphorn ended with status {process.returncode}: {output}{log}")
    return output
