"""What is run: the program itself, its modes, and peers that are on this machine."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# The settings of InterpChecker's modes.
INTERP = {
    "R": ["interp.kinds=R", "interp.search=dfs"],
    "R+E": ["interp.kinds=R,E", "interp.search=dfs"],
    "R+S": ["interp.kinds=R,S", "interp.search=dfs"],
    "R+S+E": ["interp.kinds=R,S,E", "interp.search=dfs"],
    "R+S+W": ["interp.kinds=R,S", "interp.search=weighted"],
    "R+S+E+W": ["interp.kinds=R,S,E", "interp.search=weighted"],
}


def _words(settings):
    return [word for setting in settings for word in ("--set", setting)]


def as_in_paper(engine):
    """The words for an engine with the settings of its paper, and without passes."""
    return ["--passes", "none", *_words([f"{engine}.as-in-paper=true"])]


# By engine: modes, each with its words. Each has its twin with the settings of the paper.
MODES = {
    "interp": {
        **{mode: _words(settings) for mode, settings in INTERP.items()},
        **{
            f"{mode}-paper": [*as_in_paper("interp"), *_words(settings)]
            for mode, settings in INTERP.items()
        },
    },
}

# Golem wants the logic, and its authors name engines by track of CHC-COMP.
GOLEM = {
    "LIA-Lin": ["--logic=QF_LIA", "--engine=imc,pdkind,spacer,split-tpa"],
    "LIA": ["--logic=QF_LIA", "--engine=spacer,pa"],
    "LRA-Lin": ["--logic=QF_LRA", "--engine=imc,kind,pdkind,split-tpa"],
    "LIA-Lin-Arrays": ["--logic=QF_ALIA", "--engine=bmc,kind"],
}


@dataclass(frozen=True)
class Solver:
    """A command under a name.

    In `words`, {file}, {track}, {seconds} and {cpu} stand for the task's file, its track, and the
    limits of wall and CPU time. `by_track` are words that are appended for tasks of a track.
    """

    name: str
    words: tuple
    by_track: tuple = ()

    def command(self, task, limits):
        """The words to run for a task under limits."""
        places = {
            "{file}": task.path,
            "{track}": task.track,
            "{seconds}": f"{limits['wall']:g}",
            "{cpu}": f"{limits['cpu'] or limits['wall']:g}",
        }
        words = [*self.words, *dict(self.by_track).get(task.track, ())]
        for place, value in places.items():
            words = [word.replace(place, value) for word in words]
        return words


def default_command(engine=None):
    """The release build of this project, with an engine if one is named."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    program = [str(ROOT / target / "release/alphorn")]
    return [*program, *(["--engine", engine] if engine else []), "{file}"]


def modes(engine, words):
    """A solver for each mode of an engine."""
    found = []
    for mode, more in MODES[engine].items():
        found.append(Solver(mode, (*words, *more)))
    return found


def find_z3():
    """Z3's program: from PATH, or else the one of scripts/setup."""
    own = ROOT / "third_party/z3/bin/z3"
    return shutil.which("z3") or (str(own) if own.exists() else None)


def peers(names):
    """Solvers for peers: z3, golem, eld; those named, or with `all` those that are found.

    Raises LookupError for a name that is not known or not found.
    """
    known = {
        "z3": (find_z3(), ["{file}"], {}),
        "golem": (shutil.which("golem"), ["{file}"], GOLEM),
        "eld": (shutil.which("eld"), ["-portfolio", "{file}"], {}),
    }
    wanted = list(known) if names == "all" else names.split(",")
    found = []
    for name in wanted:
        if name not in known:
            raise LookupError(f"no such peer: {name} (there are {', '.join(known)})")
        program, words, by_track = known[name]
        if program is None and names == "all":
            continue
        if program is None:
            raise LookupError(f"{name} is not on PATH")
        found.append(Solver(name, (program, *words), tuple(by_track.items())))
    if not found:
        raise LookupError(f"none of the peers is on PATH: {', '.join(known)}")
    return found
